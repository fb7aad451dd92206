// SPDX-License-Identifier: Apache-2.0

// Package assignment divides what a fleet runs among its clusters. It is pure: what is known goes in, who gets what comes
// out, and the caller reads and writes the world.
//
//	central mode       [Distribute]  replicas, so that few of them move      distribute.go, lower.go
//	                   [Rebalance]   those that run far from their shares     rebalance.go
//	                   [InProportion]  replicas, as they are divided now      proportion.go
//	distributed mode   [Assign]      min and max of the fleet, split          assign.go
//	                   [Next]        how the bounds move later                snapshot.go, plan.go, step_*.go
//	both               [Matches], [Preferences]  who takes part, and how      affinity.go, preference.go
//
// # Shares
//
// Every [Policy] comes to one of two ways to divide a number (pour.go): by weight (share.go), where each gets its quota
// rounded down and the heaviest of the rounded get the rest; or by filling one cluster after another up to what it can
// host. Equal clusters stand in the order of a hash of the object's uid and their names (roster.go). So the same input
// gives the same result, in whatever order it is given. The share of a cluster may shrink by one when the total grows by
// one; that is why neither mode divides again what is divided already, but only what is added or taken away (level.go).
//
// # Steps of distributed mode
//
// [Next] tries in this order, and what can be done first is the step:
//
//	step_bounds.go     the split for a new spec; clusters that go, fall silent for long, or come back
//	step_spill.go      what a cluster cannot host goes to others; the cluster is Saturated until it could host more
//	step_drain.go      priorities: high ones are held until low ones are empty, and low ones are helped to be
//	step_zero.go       clusters that run nothing: up, down, and their minima
//	step_rebalance.go  maxima follow capacity
//	step_demand.go     bounds follow demand
//
// A cluster that is silent keeps its bounds, and while it may be back at once no others move. In every step the maxima
// keep their sum, so they never exceed the fleet's if decreases are written before increases. With nothing changing around
// it, a fleet comes to rest: what moved once has no reason to move again.
//
// The files in testdata/stories show it: what happens to a fleet, and what each step does about it. They are the quickest way
// to know this package, split.txt first; TestStories says what their words mean, and plays them.
package assignment
