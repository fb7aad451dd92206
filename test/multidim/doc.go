// SPDX-License-Identifier: Apache-2.0

// Package multidim closes the loop of a MultidimPodAutoscaler: a workload under load, whose replicas pkg/replicas decides and
// whose sizes pkg/sizes decides, with the goals and floors of pkg/goals between them. It shows that the two do not drive each other.
// Nothing is started: a tick is 15 seconds, and two days take a fraction of a second. Load, lags, budgets and bounds come by chance.
//
//	go test ./multidim                         as many workloads as the short or the long form has
//	go test ./multidim -seed 7 -scenarios 1     one of them again
//	go test -v ./multidim -table                what designs cost under seven loads, as docs/benchmarks.md has it
//
// The judge (judge_test.go) holds each run to these, beside a run of the same workload whose sizes never change:
//
//	P0 decided       the replicas can be decided on, but while the only Pod is replaced
//	P1 interference  the replicas are those of the run without sizing, until a Pod gets less than it could use
//	P2 runaway       there are never more replicas than the load of the last minutes calls for
//	   starvation    nor fewer: neither limits nor full nodes hide the load, unless they hide it with the template's sizes too
//	P3 bounds        each size is within what users, limits, LimitRanges and nodes allow
//	P4 rest          where the load and replicas stay for a day, no Pod is resized twice in twelve hours of it
//	P5 reserve       above the minimum, Pods request what they may use until the fleet grows
//	P6 budgets       evictions leave as many Pods available as should be
//	P7 patience      nothing shrinks or is evicted in a cluster in the minute after its replicas changed
//
// Kubelets of some workloads defer resizes or refuse them, so Pods are evicted. Replicas may differ from then on.
//
// Designs that are known to be wrong (design_test.go) must be caught by it. Not simulated: clusters that cannot be seen.
package multidim
