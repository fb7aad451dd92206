// SPDX-License-Identifier: Apache-2.0

// Package multidim is the controller of MultidimPodAutoscalers. It reconciles one object after another, once per vertical
// period and whenever its spec, or the FederatedHPA that it owns, changes:
//
//	gather     which clusters count, what the workload's template says, its Pods, what they use, and what bounds sizes  gather.go
//	learn      what was used becomes history, and history becomes advice                                               learn.go, takeover.go
//	decide     sizes, the FederatedHPA for the goals, savings, conditions: pure                                        decide.go
//	apply      the FederatedHPA, if there are goals                                                                    child.go
//	record     the status, Events and metrics                                                                          record.go
//
// Nothing is resized yet: the only updateMode is Off. The number of replicas is the business of the FederatedHPA, whose
// targets no size can move (package goals); its controller does not know that it has an owner.
package multidim
