// SPDX-License-Identifier: Apache-2.0

// Package federatedhpa keeps the replicas of workloads that run in many clusters in step with their load: the central
// mode of FederatedHPA. Objects of the other mode it hands on to package distributed (modes.go), so that each object is
// looked at in one mode at a time, also while it changes from one to the other.
//
// One object after another is looked at, once per sync period and whenever its spec changes:
//
//	gather  the scale of the workload; for each cluster where it is placed its
//	        Pods and who else scales them there; the metrics, from the hub
//	decide  how many replicas the fleet should run (package replicas), and,
//	        with replicaDistribution, how many of them where (package
//	        assignment): no clock, no client
//	apply   the scale, on the hub or in each member; the status; then Events,
//	        metrics and log lines
//
// Nothing is built for a look: clients, mappings and Pods are kept from one to the next. What a look must know of former
// ones is in memory.go, and what of it must outlive the program is in the status.
//
// Replicas have one writer. Without replicaDistribution that is the workload on the hub, and whoever propagates it
// divides them. With it each member's workload is told its part:
//
//	target.go        what the two have in common
//	target_hub.go    one number on the hub
//	target_parts.go  one in each member
//
// A cluster takes part by placement alone (placement.go), and never ceases to because it is silent: its Pods stay
// counted as they were last seen, and until it is seen again, or is taken out, nothing is scaled in.
package federatedhpa
