// SPDX-License-Identifier: Apache-2.0

// Package soak_test has a thousand MultidimPodAutoscalers give Pods their sizes for hours, in which their leader is killed again and
// again, members freeze, loads change and containers are killed for want of memory.
//
//	go test ./multidim/soak                 a long form with a thousand objects and eight hours, a short one with few of both
//	go test ./multidim/soak -seed 7         once more what happened before
//
// Real are the controller (pkg/controllers/multidim) with the budgets, rates and sizes that it decides on, and the history that it saves
// and loads again. Simulated are the clock, the hub's API server, metrics, and members with their kubelets, admission, PodDisruptionBudgets
// and Deployments. A kill ends the leader within a reconcile, after any of its calls; what the next one knows is what stands on the hub
// and in members. It begins half a minute later.
//
// The judge (judge_test.go) sees all that happens to Pods, and knows nothing of the controller's memory:
//
//	loop       no Pod is evicted where a new one would be the same, nor one that has just taken the place of another for the same advice
//	effect     where new Pods do not get their size, each leader evicts two at most
//	budget     minReplicas are left, and no more than maxUnavailable are disrupted together
//	turn       with OneByOne, no cluster evicts while what another evicted is being replaced
//	rate       evictions and resizes of a member, of all workloads, stay within the rates of a leader
//	silence    nothing is done to Pods of a member that is known to be silent
//	rest       in the end sizes are as recommended, and nothing is evicted or resized any longer
//	growth     kills, leaders and silence do not make more be recommended than is used
//	memory     the process needs no more in the end than in the beginning
package soak_test
