// SPDX-License-Identifier: Apache-2.0

// Package dashboard is `kubectl fleetscale dashboard`: a page about a fleet on the caller's own machine, with the caller's own rights.
//
//	run.go          from options to a page, or to one file
//	watch.go        reads the hub: autoscalers by watches, members every few seconds
//	events.go       reads what is said of one autoscaler, as its page is open
//	past.go         reads what was before from a record that is given, and replays it
//	histories.go    or asks the hub for the records of autoscalers whose pages are open, and for no more than has come since
//	seen.go         keeps what was read, and what of it changed since
//	serve.go        answers a browser, and only one that was given the address
//	stream.go       tells it of changes
//	once.go         puts all into one file
//
// It is also the page that many read, which stands in a cluster and has no rights of its own (cmd/dashboard):
//
//	door.go         lets a reader in by a token, or a login by one
//	identity.go     asks the hub whose a token is
//	shared.go       keeps what each token shows, apart from what any other does
//	pool.go         bounds how much is kept, and for how long
//
// What the browser runs is in pkg/plugin/pages.
//
// What is shown is decided by pure functions of what was read:
//
//	fleet.go        members
//	autoscaler.go   a line for each autoscaler
//	detail.go       one autoscaler, with clusters.go, metrics.go, coming.go, sizes.go
//	timeline.go     points of its past
//	recorded.go     points of what was recorded, and why they were so; split.go those of distributed mode
//	tail.go         what has come since
//	unknown.go      when something is not known
//	settable.go     what a replay can set
package dashboard
