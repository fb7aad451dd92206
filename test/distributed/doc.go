// SPDX-License-Identifier: Apache-2.0

// Package distributed lets fleets live for hours in a bubble with a clock of its own: the members' autoscalers are
// Kubernetes' own HorizontalPodAutoscaler controller as it is shipped, one in each member, and the hub is
// pkg/controllers/federatedhpa/distributed. Load, capacity, failures, restarts and edits come by chance.
//
//	go test ./distributed                         as many fleets as the short or the long form has
//	go test ./distributed -seed 7 -scenarios 1     one of them again
//
// The judge (judge_test.go and its neighbours) knows nothing of how the hub decides. It reads what is written to members,
// and the members as they are:
//
//	bounds     the maxima never exceed the fleet's between two writes, and are the fleet's at rest
//	shape      1 <= min <= max, and the API server would take it
//	writes     each changes something, is of an object of ours, and happens while the hub reconciles
//	zero       replicas are written from zero or to zero only, and nothing rests there while something waits
//	taints     what is cordoned or drained gets no more; what is drained goes to zero once the others have the minimum Ready
//	modes      on the way out nothing is scaled or left behind, and on the way in nothing is cut that may run
//	Pods       no Ready Pod goes but by its own autoscaler, a drain, an edit, a cluster that is back, or zero
//	minimum    the fleet runs its minimum
//	order      with a strict order, no cluster shrinks while one of a lower priority could
//	silence    while a cluster cannot be seen, the bounds of the others stay, until the grace is over
//	rest       under a constant load fewer than 4 writes for each cluster, and then none; a restart changes nothing
//
// What cannot be told apart from outside is not judged: whether a step was the best one. Left out, as nothing better can be
// done about it: rest with a strict order and a rebalancing where each cluster has a load of its own, which no other can carry; the
// bound on writes where nobody knows the room of a full cluster, which is retried each time later; a cluster that is registered again
// after it was taken out of the affinity meanwhile, or after a change of the mode, where our autoscaler stays; and who waits while a
// cluster that missed an edit is out of sight.
package distributed
