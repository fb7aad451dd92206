// SPDX-License-Identifier: Apache-2.0

// Package workload reads and writes what members run of one workload, and who scales it there. Its sizes are of package sizing.
//
//	cluster.go       what can be asked of a cluster
//	reference.go     how a workload is named
//	members.go       the registered clusters
//	scale.go         the workload's replicas
//	setreplicas.go   and set, whoever else sets them
//	absence.go       and when to ask again for a workload that is not there
//	room.go          how many more it could run there
//	workloads.go     the workload itself
//	autoscalers.go   HorizontalPodAutoscalers, as they are watched
//	list.go          and listed, in old clusters
//	apply.go         and written
//	delete.go        and deleted
//	version.go       in what version
package workload

// FieldManager owns in managedFields what is written of workloads and autoscalers.
const FieldManager = "fleetscale-federatedhpa"
