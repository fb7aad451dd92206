// SPDX-License-Identifier: Apache-2.0

// Package series makes records of decisions from the controller-manager's own metrics, as a Prometheus has kept them.
//
//	told.go     what a metric was told ↔ numbers with names: the exporter writes them, and here they are read
//	moments.go  series → what they say of one autoscaler at each time
//	records.go  that → decisions
//
// What the series do not tell is not guessed: the record of such a decision lacks its metrics, and a replay says so (NotTold).
//
// It is pure.
package series
