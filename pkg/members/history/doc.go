// SPDX-License-Identifier: Apache-2.0

// Package history keeps what the containers of MultidimPodAutoscalers' workloads used, by object, cluster and container, and
// has package sizes make advice of it. For each object a controller calls, in this order:
//
//	[Store.Load]    reads from the hub what an earlier process saved; before that, nothing is fed or advised   load.go
//	[Store.Feed]    adds what one reconcile saw: uses from the hub's metrics API, OOM kills from Pods          feed.go, share.go, kill.go
//	[Store.Advise]  returns advice for the fleet and for each cluster                                          advise.go
//	[Store.Forget]  drops an object that was deleted                                                           store.go
//
// [Store.Run] saves each history once in a period, less often as it grows, and when it ends, as MultidimPodAutoscalerHistory
// objects: save.go, run.go.
// [FromVPA] and [Store.Import] take over what a VerticalPodAutoscaler has collected: vpa.go.
//
// Ages are by our own clock. The times of a member only tell that a sample or a kill is the one seen before.
//
// What a restart loses: the peaks of memory of the running day, which the containers show again, but not those of kills; and if the process
// was killed the samples since the last save: of a period, or a 24th of what is known of a container, if that is more, but at most of six
// periods, and after a kill for want of memory two minutes. Until as much was seen again, no advice becomes less.
package history
