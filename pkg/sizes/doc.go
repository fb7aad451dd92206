// SPDX-License-Identifier: Apache-2.0

// Package sizes decides how large the containers of a workload should be, from what they used. It is pure: samples and
// times go in, amounts and their reasons come out, and the caller reads and writes the world.
//
//	what was used     [Use], of one workload in one cluster, by [Instance]s   use.go, instance.go, histogram.go
//	                  [Checkpoint]: so it outlives the program                checkpoint.go
//	advice            [Use.Advise]: target and bounds                         advice.go
//	                  [AdviseFleet]: of all clusters together                 fleet.go
//	                  [GroundedAdvice], [StepsOf]: and what that comes from   grounds.go
//	what is legal     [CapAll]: sizes that are admitted and can run           caps.go, capped.go, pod.go, room.go
//	                  [Running.InPlace]: what a Pod can be resized to         legal.go, running.go
//	                  [NewPods]: what new Pods are created with               newpods.go
//	what to do        [Past]: what became of what was done                    past.go, effect.go, nodes.go
//	                  [Candidates]: which Pods, the most urgent first         urgency.go
//	                  [PlanMoves]: how, as far as a budget goes               plan.go, policy.go, budget.go
//	what it is worth  [SavingsOf], at the price of [PriceOf]                  savings.go
//
// Who reconciles keeps a Past of each cluster of a workload. Each time it writes what new Pods get, has the Past observe what is
// there, plans for all clusters together, and tells the Past which moves were accepted, and which evictions refused.
//
// What is remembered of use and advised, and the order of Pods, are those of Kubernetes' Vertical Pod Autoscaler (VPA) 1.8, number by
// number; test/oracle holds them to it. What differs is meant to, and docs/design/own-sizes.md says why.
package sizes
