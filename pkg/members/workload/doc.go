// SPDX-License-Identifier: Apache-2.0

// Package workload reads and writes what members run of one workload, and who scales or sizes it there.
//
//	cluster.go       what can be asked of a cluster
//	reference.go     how a workload is named
//	members.go       the registered clusters
//	scale.go         the workload's replicas
//	setreplicas.go   and set, whoever else sets them
//	absence.go       and when to ask again for a workload that is not there
//	room.go          how many more it could run there
//	bounds.go        how large its Pods may be
//	workloads.go     the workload itself
//	autoscalers.go   HorizontalPodAutoscalers, as they are watched
//	list.go          and listed, in old clusters
//	apply.go         and written
//	delete.go        and deleted
//	version.go       in what version
//	vpas.go          VerticalPodAutoscalers, as they are watched
//	hub.go           and of the hub
//	checkpoints.go   and what they have learned
//	sizing.go        what a cluster can do about the sizes of Pods
//	podsizes.go      the sizes of new Pods, as they are watched
//	setpodsizes.go   and written
//	sizedtemplate.go and what becomes of a template by them
//	resize.go        the sizes of Pods that run
//	evict.go         Pods that are to be replaced
//	refused.go       why a cluster does none of it
package workload

// FieldManager owns in managedFields what is written of workloads and autoscalers.
const FieldManager = "fleetscale-federatedhpa"
