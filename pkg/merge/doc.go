// SPDX-License-Identifier: Apache-2.0

// Package merge makes one answer of what many clusters say about a metric, and
// decides whether their parts are enough for one.
//
//	choose.go   what the asker chose, by reserved keys of the metric's selector
//	judge.go    may an answer be served, although members are silent?
//	objects.go  figures of pods and other objects
//	series.go   series of external metrics
//	figure.go   several quantities, times and windows made one
//
// Everything here is pure, and nothing depends on the order in which clusters
// are given: equal parts give equal bytes.
package merge
