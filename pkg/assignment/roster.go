// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"hash/fnv"
	"math/bits"
	"slices"
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
}

// roster holds the clusters in the order in which the policy fills them. Slices of numbers beside it are in this order.
type roster struct {
	policy  Policy
	members []member
	// unweighted: no cluster has a weight of its own, so all weigh the same.
	unweighted bool
}

type member struct {
	Cluster
	capacity int64
	weight   int64
	rank     int // the cluster's place where nothing else decides
}

// newRoster orders the clusters. The load, by name, is read by LoadWeighted only. Where nothing else decides, clusters
// stand in the order of a hash of the FederatedHPA's uid and their name, so that not every workload favours the same
// cluster; without uid, in the order of their names.
func newRoster(policy Policy, uid string, clusters []Cluster, load map[string]int64) roster {
	r := roster{policy: policy, members: make([]member, len(clusters))}
	for i, c := range clusters {
		r.members[i] = member{Cluster: c, capacity: int64(or(c.Capacity, c.Current))}
	}
	r.rank(uid)
	r.weigh(load)
	slices.SortFunc(r.members, r.compare)
	return r
}

func (r *roster) rank(uid string) {
	hashes := make(map[string]uint32, len(r.members))
	for _, m := range r.members {
		hashes[m.Name] = tieHash(uid, m.Name)
	}
	slices.SortFunc(r.members, func(a, b member) int {
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
func (r *roster) weigh(load map[string]int64) {
	var largest int64
	for i := range r.members {
		m := &r.members[i]
		switch r.policy {
		case DynamicWeighted:
			m.weight = m.capacity
		case LoadWeighted:
			m.weight = load[m.Name]
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
func (r *roster) compare(a, b member) int {
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

func runs(m member) int {
	if m.Current > 0 {
		return 1
	}
	return 0
}

// each returns a number for each cluster.
func (r *roster) each(of func(member) int64) []int64 {
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
