// SPDX-License-Identifier: Apache-2.0

// Package hubmetrics holds fleetscale's client of the hub's metrics APIs (pkg/hub/hubmetrics) to the one by which
// Kubernetes' HorizontalPodAutoscaler controller asks. Both put the same random questions to the same server, which
// answers at random: in every version, in JSON and protobuf, with errors, nonsense and nothing. What they ask, the
// values that they read, and the words of their errors must be equal.
//
//	go test ./differential/hubmetrics                                  a new seed each time; printed when it fails
//	go test ./differential/hubmetrics -seed 7 -questions 1000000       a long run, or the same one again
//	go test ./differential/hubmetrics -fuzz FuzzAsk                    seeds by the fuzzer
//	go test ./differential/hubmetrics -run ^$ -bench .                 the cost of one question, side by side
//
// Where the items name their clusters, the samples of all clusters together must be those of Kubernetes.
//
// What is not compared, because it is not meant to be equal:
//
//   - the words for a hub that does not tell its API groups: only the one group is asked for here;
//   - how often a server is asked that says 429 or 5xx with Retry-After: once here, and up to eleven times there;
//   - which version of custom.metrics.k8s.io is asked while the hub changes it: here one holds for a minute.
package hubmetrics
