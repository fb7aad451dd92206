// SPDX-License-Identifier: Apache-2.0

// Package distributed splits the bounds of a FederatedHPA into HorizontalPodAutoscalers of the members, which go on
// scaling while the hub is away, and keeps the split right.
//
//	gather  for each cluster the autoscalers of the namespace, the scale of the
//	        workload, its Pods and the room for more                    gather.go, autoscalers.go, template.go
//	decide  the next step (package assignment), once the last one stands in
//	        every cluster that is in sight                              decide.go, step.go
//	record  the assignment of every cluster, in the status: the intent  status.go, conditions.go, events.go
//	apply   what has not come true of it: first whatever becomes less,
//	        then whatever becomes more                                  apply.go, changes.go
//
// The intent is stored before anything is written to a member. So a program that ends anywhere in between leaves behind
// what has to be done, and the next one does it. Nothing grows while something that should have become less has not: so
// the maxima never exceed the fleet's, not even on the way.
//
// A cluster that cannot be read, or written, is silent. It keeps its bounds, and after a grace the others take its place
// over. A cluster that leaves loses its autoscaler, and its workload only if we made it (leave.go).
package distributed
