// SPDX-License-Identifier: Apache-2.0

// Package replicas decides how many replicas a workload should have. For a workload in one cluster that is what the
// HorizontalPodAutoscaler of Kubernetes 1.37 decides, to the bit and to the word; for one in many clusters it is what
// that autoscaler would decide if all their Pods were in one cluster, as far as they can be seen.
//
// It is pure: [Decide] is told the spec, the state, the Pods, the metrics and the time, and returns the decision with
// everything that is to be said of it. The caller gathers before, writes after, and completes the decision with
// [Decision.Scaled] or [Decision.Refused]. What the next decision must know of the past is in [State].
//
//	gather                    decide                                    apply
//	scale, Pods, metrics ──►  decide.go   which way to go           ──► /scale ──► written.go
//	                          proposal.go what one metric asks for      status, events
//	                          combine.go  the most that any asks for
//	                          visible.go  never less than now, half blind
//	                          window.go, bounds.go   without behavior
//	                          behavior.go, policy.go with behavior
//
// Each metric is answered in one of four ways, by its type and its target:
//
//	utilization.go  Pods' use in percent of their requests   Resource, ContainerResource
//	average.go      Pods' mean                               Resource, ContainerResource, Pods
//	ratio.go        value over target, times Ready Pods      Object, External
//	share.go        value over target for each replica       Object, External
//
// The first two share the grouping of Pods (group.go) and what is assumed of those without a metric (balance.go).
//
// What they are made of: group.go sorts a cluster's Pods and groups.go the fleet's, requests.go reads what Pods request,
// tolerance.go and number.go compare. Beside the way: selector.go and zero.go say when metrics are not asked, state.go
// and memory.go keep the past, condition.go and reasons.go speak.
//
// # Many clusters
//
// With more than one cluster, or with one that cannot be seen, these rules come on top; they never change what is
// decided of a single cluster that can be seen.
//
//   - A Pod is known by cluster and name: equal names in two clusters are two Pods.
//   - Pods of a cluster that cannot be seen stay counted, as they were last, without metrics. If none was ever seen,
//     as many are counted as the cluster was assigned. Of neither use is known: see balance.go for what that means.
//   - While a cluster cannot be seen, nothing is scaled in; and out only by what the visible Pods prove: at most to what
//     all listed Pods would call for if they could be seen. The bounds of the spec hold all the same.
//   - Samples of Pods that no list holds count, as they do in Kubernetes, but not while a cluster cannot be seen.
//   - Replicas that a cluster was assigned and has not created yet count as Pending Pods.
//   - A cluster that was assigned none is draining: its Pods count as if they were being deleted.
//   - A cluster that is drained by its taints counts as any other, but nothing waits for it while it cannot be seen.
//   - A cluster's clock is compared with that cluster's clock.
//   - A sum that lacks a cluster is a lower bound: it may raise the replicas, and not lower them.
//
// # Numbers
//
// All values are in milli, so memory is in milli-bytes. The order of floating point operations is part of the result: a
// tidier formula differs by one replica here and there. Where Kubernetes 1.37 overflows this package saturates (sums and
// products are of 128 bits and more), and with no replicas to divide by it reports the whole; later versions of
// Kubernetes do so too.
package replicas
