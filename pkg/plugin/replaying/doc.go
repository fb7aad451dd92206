// SPDX-License-Identifier: Apache-2.0

// Package replaying is the commands record and replay: the record of decisions as a file, and what its decisions would have been by
// another spec.
//
//	fetch.go   the record, from the hub or from an observer
//	made.go    or made of what a Prometheus has, which prometheus.go asks
//	load.go    the records of one object, from a file
//	replay.go  the command
//	report.go  its result for programs, text.go for people, plot.go the curves of it in a terminal
//	sizes.go   what of a result is another where the decisions are on sizes
//	view.go    the result as a page, picture.go as a picture
//	sweep.go   several targets, and which of them to set
package replaying
