// SPDX-License-Identifier: Apache-2.0

// Package central keeps the replicas of workloads that run in many clusters in step with their load: the central mode of
// FederatedHPA.
//
//	gather  the scale of the workload; for each cluster where it is placed its
//	        Pods and who else scales them there; the metrics, from the hub        gather.go, queries.go, rivals.go
//	decide  how many replicas the fleet should run, and, with
//	        replicaDistribution, how many of them where                           decide.go, division.go
//	apply   the scale, on the hub or in each member                               apply.go
//	record  the status, Events and metrics                                        status.go, events.go, metrics.go
//
// Replicas have one writer. Without replicaDistribution that is the workload on the hub (hub.go), and whoever propagates it
// divides them. With it, or where the hub has no such workload (inmembers.go), each member's workload is told its part.
//
// A cluster takes part by placement alone, and never drops out because it is silent: its Pods stay counted as they were last
// seen, and until it is seen again, or is taken out, nothing is scaled in.
package central
