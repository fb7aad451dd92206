// SPDX-License-Identifier: Apache-2.0

// Package sizes decides how large the containers of a workload should be, from what they used. It is pure: samples and
// times go in, amounts and their reasons come out, and the caller reads and writes the world.
//
//	what was used   [Use], of one workload in one cluster, by [Instance]s: its containers      use.go, instance.go, histogram.go
//	                [Checkpoint], the form in which it outlives the program                     checkpoint.go
//	advice          [Use.Advise]: target and bounds; [AdviseFleet]: of all clusters together    advice.go, fleet.go
//	what is legal   [CapAll]: sizes that are admitted and can run, and what bounded them        caps.go, capped.go, pod.go, room.go
//
// Memory and advice are those of Kubernetes' Vertical Pod Autoscaler (VPA) 1.8, number by number; test/oracle holds them to
// it. What differs is meant to: ages are counted by the caller's clock, and a merge leaves what was merged as it was.
package sizes
