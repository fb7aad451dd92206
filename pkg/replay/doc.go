// SPDX-License-Identifier: Apache-2.0

// Package replay makes recorded decisions again, by the spec that they were made by or by another one.
//
//	run.go    the decisions in the order of time, each after what came of the one before
//	model.go  what a decision would have been told, had there been more or fewer Pods
//	share.go  what each cluster ran, and would have run of that
//	split.go  the same of decisions on the bounds of clusters, in distributed mode
//	place.go  what a cluster would have run by other bounds, and told
//	sizes.go  the same of decisions on sizes: what Pods would have requested, and what they used
//	sums.go   what a run comes to: Pod-hours, changes, time at the maximum, time above a bound
//	sweep.go  runs over several targets, and which of them does
//	thin.go   fewer points, for pictures, and when the load is not known
//
// By the same spec the record is taken as it is, and each decision is as it was: [Run] counts those that are not. By another spec the
// replicas go another way, and what the metrics would have said there is a model: the load is what it was, and is spread evenly over the
// Pods that there would have been, which are Ready at once. Where the load itself is not known, that is said: Pods that use all that they
// may hide what they would use, and clusters that could not be seen what they used.
//
// By which rule clusters divide the replicas of central mode is not recorded: what each would run is an estimate, by its share of what all
// ran.
//
// In distributed mode the clusters' own autoscalers scale, and what is decided are their bounds. There the load of each cluster is what it
// was, and stays in that cluster: its autoscaler runs what the load takes, as far as its bounds let it.
//
// Of sizes what was used is what it was: it does not depend on what is requested, but where a limit, or want of memory, kept it down; and
// there are as many Pods as there were. They are changed at once, by the rules by which Pods are.
//
// It is pure.
package replay
