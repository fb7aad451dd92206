// SPDX-License-Identifier: Apache-2.0

// Package multidim is the controller of MultidimPodAutoscalers. It reconciles one object after another, once per vertical
// period and whenever its spec, or the FederatedHPA that it owns, changes (reconciler.go, setup.go):
//
//	gather     which clusters count, what the workload's template says, its Pods, what they use, what bounds    gather.go, situation.go,
//	           sizes, and what a cluster can do about them                                                      template.go, shared.go
//	learn      what was used becomes history, and history becomes advice; or another recommender's is adopted   learn.go, takeover.go,
//	                                                                                                            recommender.go
//	decide     sizes, the FederatedHPA for the goals, savings: pure                                             decide.go, sizing.go,
//	                                                                                                            amounts.go
//	apply      the FederatedHPA, if there are goals                                                             child.go
//	give       what new Pods of each cluster are created with, and the finalizer of who wrote that              entries.go, give.go
//	move       running Pods are resized or evicted, as far as budgets and rates go                              actuation.go, running.go,
//	                                                                                                            move.go, rates.go
//	recorded   what sizes were decided by is handed to the record of decisions                                  recorded.go
//	record     the status, conditions, Events and metrics                                                       record.go, status.go,
//	                                                                                                            actuation_status.go,
//	                                                                                                            conditions.go,
//	                                                                                                            summarize.go, metrics.go
//
// What sizes come to by the spec is decided by package recommendation. What to give and what to move is decided by package sizes, from
// what actuation.go and running.go tell it of the Pods, and is carried out by package workload. Give comes before move, so that a Pod
// is never evicted for a size that is not written yet. Neither is done with updateMode Off, or while spec.mode is Observe or Paused.
//
// The number of replicas is the business of the FederatedHPA, whose targets no size can move (package goals); its controller does
// not know that it has an owner.
package multidim
