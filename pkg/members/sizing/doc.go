// SPDX-License-Identifier: Apache-2.0

// Package sizing reads and writes the sizes of Pods in members: what they are, what bounds them, what new ones get, and how those that
// run are changed. Only MultidimPodAutoscalers need it, and package workload, to know how large the next Pod would be.
//
//	sizer.go       what can be asked of a cluster
//	support.go     what it can do about the sizes of Pods
//	supports.go    and how long that is remembered
//	vpas.go        VerticalPodAutoscalers, as they are watched
//	hub.go         and of the hub
//	checkpoints.go and what they have learned
//	podsizes.go    the sizes of new Pods, as they are watched
//	soundsizes.go  as far as they are sound
//	setpodsizes.go and written
//	template.go    and what becomes of a template by them
//	resize.go      the sizes of Pods that run
//	evict.go       Pods that are to be replaced
//	refused.go     why a cluster does none of it
//	silent.go      a cluster that nobody can ask
package sizing
