// SPDX-License-Identifier: Apache-2.0

// Package replicas holds fleetscale's decision (pkg/replicas) to Kubernetes' own: the HorizontalPodAutoscaler controller,
// whole and as it is shipped, runs beside it in a bubble with a clock of its own. Both are given the same random
// sequences of specs, Pods, metrics, failures and waits; what they write and say must be equal.
//
//	go test ./differential/replicas                                    a new seed each time; printed when it fails
//	go test ./differential/replicas -seed 7 -reconciles 1000000        a long run, or the same one again
//	go test ./differential/replicas -fuzz FuzzDecide                   seeds by the fuzzer
//
// A scenario runs in one to five clusters. For the controller their Pods are in one, under names of their own: however
// Pods are split, the decision is the same.
//
// What is not compared, because it is not meant to be equal:
//
//   - the order in which a message names two autoscalers of the same Pods: the controller's is random;
//   - which Pod a message names if any of several could be named: the controller's lists have no order;
//   - the share of a value for each replica while no replica runs: the controller divides by zero;
//   - numbers beyond 32 and 64 bits, where the controller wraps; none are asked for;
//   - the condition FleetVisible and the names of clusters in messages, which the controller does not know.
package replicas
