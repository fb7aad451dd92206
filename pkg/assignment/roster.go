// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"hash/fnv"
	"math/bits"
	"slices"

	"k8s.io/utils/ptr"
)

// Cluster is one cluster among which replicas or bounds are divided.
type Cluster struct {
	Name string // unique in one question
	Preference
	// Current is the number of replicas that its workload is told to run.
	Current int32
	// Capacity is the number of replicas of the workload that it can host in all, those that run included. Nil: not
	// known, and taken for Current.
	Capacity *int32

	// Cap are the bounds that it may have at most, if it is cordoned or drained: of distributed mode, where Duplicated knows no
	// ceilings, and of [InProportion], of which only the maximum counts. Nil: it is neither.
	Cap *Bounds

	// What follows is of central mode only.

	// Limit is the number of replicas that are not pending, if more than that have been unschedulable for the delay: the
	// cluster gets no more as long as others can take them. Nil: none are.
	Limit *int32
	// Load is what the cluster carries: the mean of its metric times its replicas, in any unit that all share. Only
	// LoadWeighted reads it.
	Load int64
	// Held: the replicas cannot be written now, so they stay as they are, and the others divide the rest.
	Held bool
	// Moved is what the last rebalancing said of the cluster, and is no part of Current; 0 if that was forgotten.
	Moved int32
	// Ready is the number of the workload's Ready Pods. Only [Rebalance] reads it.
	Ready int32
}

// roster holds the clusters in the order in which the policy fills them. Slices of numbers beside it are in this order.
type roster struct {
	policy  Policy
	members []Cluster
	// weights are by the policy, and ranks the places where nothing else decides.
	weights []int64
	ranks   []int
	// unweighted: no cluster has a weight of its own, so all weigh the same.
	unweighted bool
	// asked: somebody wants to know where numbers come from; terms are what is noted of that, by the place (why.go).
	asked bool
	terms [][]Term
}

// newRoster orders the clusters. Where nothing else decides, they stand in the order of a hash of the FederatedHPA's uid and
// their name, so that not every workload favours the same cluster; without uid, in the order of their names.
func newRoster(policy Policy, uid string, clusters []Cluster) roster {
	r := roster{policy: policy, members: slices.Clone(clusters), ranks: make([]int, len(clusters))}
	r.rank(uid)
	r.weigh()
	slices.SortFunc(r.ranks, func(a, b int) int { return cmp.Or(r.compare(a, b), cmp.Compare(a, b)) })
	r.members, r.weights = at(r.members, r.ranks), at(r.weights, r.ranks)
	return r
}

// at are those at the places.
func at[T any](all []T, places []int) []T {
	result := make([]T, len(places))
	for i, place := range places {
		result[i] = all[place]
	}
	return result
}

// capacity is how many replicas it can host in all, as far as that is known.
func (c Cluster) capacity() int64 { return int64(ptr.Deref(c.Capacity, c.Current)) }

// most is the greatest maximum that the cluster may have.
func (c Cluster) most() int64 {
	if c.Cap == nil {
		return int64(c.Ceiling)
	}
	return int64(min(c.Ceiling, c.Cap.Max))
}

// least is the greatest minimum that it may have, of at most so many.
func (c Cluster) least(limit int64) int64 {
	if c.Cap == nil {
		return limit
	}
	return min(limit, int64(c.Cap.Min))
}

// leasts are the greatest minima within these limits.
func (r *roster) leasts(limits []int64) []int64 {
	leasts := make([]int64, len(limits))
	for i, m := range r.members {
		leasts[i] = m.least(limits[i])
	}
	return leasts
}

// rank puts the clusters in the order in which they stand where nothing else decides.
func (r *roster) rank(uid string) {
	hashes := make(map[string]uint32, len(r.members))
	for i, m := range r.members {
		hashes[m.Name], r.ranks[i] = tieHash(uid, m.Name), i
	}
	slices.SortFunc(r.members, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(hashes[a.Name], hashes[b.Name]), cmp.Compare(a.Name, b.Name))
	})
}

func tieHash(uid, name string) uint32 {
	if uid == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(uid + "/" + name))
	return h.Sum32()
}

// weigh gives every cluster its weight by the policy. Their sum fits an int64.
func (r *roster) weigh() {
	r.weights = r.each(r.policy.weight)
	largest := int64(0)
	for _, weight := range r.weights {
		largest = max(largest, weight)
	}
	r.unweighted = largest == 0
	excess := max(0, bits.Len64(uint64(largest))+bits.Len(uint(len(r.weights)))-63)
	for i := range r.weights {
		if r.unweighted {
			r.weights[i] = 1
		} else {
			r.weights[i] >>= excess
		}
	}
}

func (p Policy) weight(c Cluster) int64 {
	switch p {
	case DynamicWeighted:
		return c.capacity()
	case LoadWeighted:
		return c.Load
	default:
		return c.Weight
	}
}

// compare says which of the clusters at two places the policy fills first, if it does.
func (r *roster) compare(i, k int) int {
	a, b := &r.members[i], &r.members[k]
	switch r.policy {
	case Aggregated:
		return cmp.Or(b.runs()-a.runs(), cmp.Compare(b.capacity(), a.capacity()))
	case Prioritized:
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.capacity(), a.capacity()))
	default:
		return cmp.Compare(r.weights[k], r.weights[i])
	}
}

func (c Cluster) runs() int {
	if c.Current > 0 {
		return 1
	}
	return 0
}

// each returns a number for each cluster.
func (r *roster) each(of func(Cluster) int64) []int64 {
	numbers := make([]int64, len(r.members))
	for i, m := range r.members {
		numbers[i] = of(m)
	}
	return numbers
}

// named returns the numbers by the clusters' names.
func (r *roster) named(numbers []int64) map[string]int32 {
	result := make(map[string]int32, len(numbers))
	for i, m := range r.members {
		result[m.Name] = int32(numbers[i])
	}
	return result
}

func sum(numbers []int64) int64 {
	total := int64(0)
	for _, n := range numbers {
		total += n
	}
	return total
}
