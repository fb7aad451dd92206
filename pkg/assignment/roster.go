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
	members []ranked
	// unweighted: no cluster has a weight of its own, so all weigh the same.
	unweighted bool
	// asked: somebody wants to know where numbers come from; terms are what is noted of that, by the place (why.go).
	asked bool
	terms [][]Term
}

// ranked is a cluster at its place in the roster.
type ranked struct {
	Cluster
	capacity int64
	weight   int64
	rank     int // the cluster's place where nothing else decides
}

// newRoster orders the clusters. Where nothing else decides, they stand in the order of a hash of the FederatedHPA's uid and
// their name, so that not every workload favours the same cluster; without uid, in the order of their names.
func newRoster(policy Policy, uid string, clusters []Cluster) roster {
	r := roster{policy: policy, members: make([]ranked, len(clusters))}
	for i, c := range clusters {
		r.members[i] = ranked{Cluster: c, capacity: int64(ptr.Deref(c.Capacity, c.Current))}
	}
	r.rank(uid)
	r.weigh()
	slices.SortFunc(r.members, r.compare)
	return r
}

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

func (r *roster) rank(uid string) {
	hashes := make(map[string]uint32, len(r.members))
	for _, m := range r.members {
		hashes[m.Name] = tieHash(uid, m.Name)
	}
	slices.SortFunc(r.members, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(hashes[a.Name], hashes[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	for i := range r.members {
		r.members[i].rank = i
	}
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
	var largest int64
	for i := range r.members {
		m := &r.members[i]
		switch r.policy {
		case DynamicWeighted:
			m.weight = m.capacity
		case LoadWeighted:
			m.weight = m.Load
		default:
			m.weight = m.Weight
		}
		largest = max(largest, m.weight)
	}
	r.unweighted = largest == 0
	excess := max(0, bits.Len64(uint64(largest))+bits.Len(uint(len(r.members)))-63)
	for i := range r.members {
		if m := &r.members[i]; r.unweighted {
			m.weight = 1
		} else {
			m.weight >>= excess
		}
	}
}

// compare puts the cluster first that the policy fills first.
func (r *roster) compare(a, b ranked) int {
	byRank := cmp.Compare(a.rank, b.rank)
	switch r.policy {
	case Aggregated:
		return cmp.Or(runs(b)-runs(a), cmp.Compare(b.capacity, a.capacity), byRank)
	case Prioritized:
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.capacity, a.capacity), byRank)
	default:
		return cmp.Or(cmp.Compare(b.weight, a.weight), byRank)
	}
}

func runs(m ranked) int {
	if m.Current > 0 {
		return 1
	}
	return 0
}

// each returns a number for each cluster.
func (r *roster) each(of func(ranked) int64) []int64 {
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
