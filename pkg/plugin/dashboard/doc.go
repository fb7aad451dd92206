// SPDX-License-Identifier: Apache-2.0

// Package dashboard is `kubectl fleetscale dashboard`: a page about a fleet on the caller's own machine, with the caller's own rights.
//
//	run.go          from options to a page, or to one file
//	watch.go        reads the hub: autoscalers by watches, members every few seconds
//	events.go       reads what is said of one autoscaler, as its page is open
//	past.go         reads what was before, and replays it, if a record is given
//	seen.go         keeps what was read, and what of it changed since
//	serve.go        answers a browser, and only one that was given the address
//	stream.go       tells it of changes
//	once.go         puts all into one file
//
// What the browser runs is in pkg/plugin/pages.
//
// What is shown is decided by pure functions of what was read:
//
//	fleet.go        members
//	autoscaler.go   a line for each autoscaler
//	detail.go       one autoscaler, with clusters.go, metrics.go, coming.go, sizes.go
//	timeline.go     points of its past
//	recorded.go     points of what was recorded, and why they were so
package dashboard
