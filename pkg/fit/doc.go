// SPDX-License-Identifier: Apache-2.0

// Package fit estimates how many further replicas of a workload a cluster has room for, the way its scheduler would
// find out:
//
//	nodes that admit the template: Ready, not being deleted, taints tolerated, node selector and affinity met
//	- what bound Pods request                                          = free
//	- Pods that wait for a node, by priority, each to the first node it fits = free for us
//	replicas that fit each node: by every requested resource, and by the node's limit of Pods
//	bounded by anti-affinity and topology spread                       = room
//	bounded by the ResourceQuotas of the namespace                     = the estimate
//
// Replicas that wait for a node already take no room: the estimate contains them.
//
// Without inter-Pod rules the estimate is what the scheduler would bind, if it preempts nobody. With them it is an upper
// bound: each rule is considered by itself, rules of other Pods against the workload's are not seen, nor are required
// affinity to Pods, volumes, host ports and what webhooks add.
//
// [Largest] and [QuotaLeft] bound how large its Pods may be.
//
// [Node] and [Pod] are compact records, so that whole clusters can be kept.
package fit
