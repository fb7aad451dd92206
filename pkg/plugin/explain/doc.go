// SPDX-License-Identifier: Apache-2.0

// Package explain is `kubectl fleetscale explain` and `kubectl fleetscale what-if`: why an autoscaler decided what it did, from its
// status alone, and what it would have decided by another spec.
//
//	object.go    what is meant by fhpa/cart, and reading it
//	observer.go  reading it from a controller-manager that only observes
//	explain.go   reading, and printing: what of it needs no cluster is in
//	             central.go, distributed.go, cron.go, multidim.go
//	whatif.go    the decision by another spec, side by side; that on bounds in
//	             whatif_split.go
//	set.go       --set: the other spec
package explain
