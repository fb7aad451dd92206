// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"slices"
)

// The definitions, one replica at a time and with fractions, by name. They share no line with what they judge.

type counts map[string]int64

func (c counts) sum() (n int64) {
	for _, v := range c {
		n += v
	}
	return n
}

// sharing is the division by weight in exact fractions.
func sharing(total int64, weights, rooms counts, first func(a, b string) bool) (counts, int64) {
	result, open := counts{}, []string{}
	for name, w := range weights {
		if result[name] = 0; w > 0 && rooms[name] > 0 {
			open = append(open, name)
		}
	}
	slices.SortFunc(open, func(a, b string) int {
		if weights[a] != weights[b] {
			return cmp.Compare(weights[b], weights[a])
		}
		return map[bool]int{true: -1, false: 1}[first(a, b)]
	})
	for len(open) > 0 && total > 0 {
		all := new(big.Rat)
		for _, name := range open {
			all.Add(all, new(big.Rat).SetInt64(weights[name]))
		}
		parts, cut, given := counts{}, []string{}, int64(0)
		for _, name := range open {
			exact := new(big.Rat).SetInt64(total)
			exact.Mul(exact, new(big.Rat).SetInt64(weights[name])).Quo(exact, all)
			parts[name] = new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
			if given += parts[name]; !exact.IsInt() {
				cut = append(cut, name)
			}
		}
		for k := range total - given {
			parts[cut[k]]++
		}
		over := slices.DeleteFunc(slices.Clone(open), func(name string) bool { return parts[name] <= rooms[name] })
		if len(over) == 0 {
			for _, name := range open {
				result[name] = parts[name]
			}
			return result, 0
		}
		for _, name := range over {
			result[name] = rooms[name]
			total -= rooms[name]
		}
		open = slices.DeleteFunc(open, func(name string) bool { return slices.Contains(over, name) })
	}
	return result, total
}

// world is a question by names.
type world struct {
	DistributeQuestion
	names                                []string // in the order of filling
	weight, capacity, floor, limit, ceil counts
	current, priority                    counts
	before                               func(a, b string) bool // where nothing else decides
	allEqual                             bool
	heldReplicas                         counts
	total                                int64
}

func newWorld(q DistributeQuestion) *world {
	w := &world{DistributeQuestion: q, weight: counts{}, capacity: counts{}, floor: counts{}, limit: counts{}, ceil: counts{},
		current: counts{}, priority: counts{}, heldReplicas: counts{}, total: int64(q.Total)}
	hash := func(name string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(q.UID + "/" + name))
		return h.Sum32()
	}
	w.before = func(a, b string) bool {
		if x, y := hash(a), hash(b); q.UID != "" && x != y {
			return x < y
		}
		return a < b
	}
	for _, c := range q.Clusters {
		if c.Held {
			w.heldReplicas[c.Name] = int64(c.Current)
			w.total = max(0, w.total-int64(c.Current))
			continue
		}
		w.names = append(w.names, c.Name)
		w.current[c.Name], w.priority[c.Name], w.floor[c.Name] = int64(c.Current), int64(c.Priority), int64(c.Floor)
		w.ceil[c.Name], w.limit[c.Name], w.capacity[c.Name] = int64(c.Ceiling), int64(c.Ceiling), int64(c.Current)
		if c.Limit != nil {
			w.limit[c.Name] = min(int64(*c.Limit), int64(c.Ceiling))
		}
		if c.Capacity != nil {
			w.capacity[c.Name] = int64(*c.Capacity)
		}
		w.weight[c.Name] = map[Policy]int64{DynamicWeighted: w.capacity[c.Name], LoadWeighted: c.Load}[q.Policy]
		if q.Policy == StaticWeighted {
			w.weight[c.Name] = c.Weight
		}
	}
	// Only after all are counted: two subtractions above may each stop at 0.
	w.total = max(0, int64(q.Total)-w.heldReplicas.sum())
	if w.weight.sum() == 0 {
		w.allEqual = true
		for _, name := range w.names {
			w.weight[name] = 1
		}
	}
	slices.SortFunc(w.names, func(a, b string) int {
		if w.first(a, b) {
			return -1
		}
		return 1
	})
	return w
}

func (w *world) first(a, b string) bool {
	keys := func(name string) []int64 {
		switch w.Policy {
		case Aggregated:
			return []int64{min(1, w.current[name]), w.capacity[name]}
		case Prioritized:
			return []int64{w.priority[name], w.capacity[name]}
		}
		return []int64{w.weight[name]}
	}
	if c := slices.Compare(keys(a), keys(b)); c != 0 {
		return c > 0
	}
	return w.before(a, b)
}

// into fills up to the limits, one replica at a time.
func (w *world) into(x counts, left int64, limit func(string) int64) int64 {
	for left > 0 {
		k := slices.IndexFunc(w.names, func(name string) bool { return x[name] < limit(name) })
		if k < 0 {
			break
		}
		x[w.names[k]]++
		left--
	}
	return left
}

func (w *world) onto(x counts, left int64, limits counts) int64 {
	if w.Policy == Aggregated || w.Policy == Prioritized {
		left = w.into(x, left, func(name string) int64 { return min(w.capacity[name], limits[name]) })
		return w.into(x, left, func(name string) int64 { return limits[name] })
	}
	one := counts{}
	for _, name := range w.names {
		one[name] = 1
	}
	for _, weights := range []counts{w.weight, one} {
		rooms := counts{}
		for _, name := range w.names {
			rooms[name] = limits[name] - x[name]
		}
		var parts counts
		parts, left = sharing(left, weights, rooms, w.before)
		for name, n := range parts {
			x[name] += n
		}
	}
	return left
}

func (w *world) shares() (counts, bool) {
	x := counts{}
	for _, name := range w.names {
		x[name] = 0
	}
	left := w.into(x, w.total, func(name string) int64 { return min(w.floor[name], w.limit[name]) })
	left = w.onto(x, left, w.limit)
	after := w.onto(x, left, w.ceil)
	return x, after < left
}

// pick returns the first of the names for which none is better; "" of none.
func pick(names []string, allowed func(string) bool, score func(string) []int64) (best string) {
	for _, name := range names {
		if allowed(name) && (best == "" || slices.Compare(score(name), score(best)) > 0) {
			best = name
		}
	}
	return best
}

// byDefinition is Distribute, one replica at a time.
func byDefinition(q DistributeQuestion) Distribution {
	w := newWorld(q)
	target, saturated := w.shares()
	x := counts{}
	for _, name := range w.names {
		x[name] = min(w.current[name], w.limit[name])
	}
	farBelow := func(name string) []int64 { return []int64{target[name] - x[name]} }
	for x.sum() < w.total {
		best := pick(w.names, func(name string) bool { return x[name] < w.limit[name] }, farBelow)
		if best == "" {
			best = pick(w.names, func(name string) bool { return x[name] < min(w.current[name], w.ceil[name]) }, farBelow)
		}
		if best == "" {
			best = pick(w.names, func(name string) bool { return x[name] < w.ceil[name] }, farBelow)
		}
		if best == "" {
			break
		}
		x[best]++
	}
	backwards := slices.Clone(w.names)
	slices.Reverse(backwards)
	for x.sum() > w.total {
		dispensable := func(name string) []int64 {
			switch w.Policy {
			case Prioritized:
				return []int64{-w.priority[name], x[name] - target[name]}
			case Aggregated:
				return []int64{-x[name]}
			}
			return []int64{x[name] - target[name]}
		}
		best := pick(backwards, func(name string) bool { return x[name] > w.floor[name] }, dispensable)
		if best == "" {
			best = pick(backwards, func(name string) bool { return x[name] > 0 }, dispensable)
		}
		x[best]--
	}
	d := Distribution{Replicas: map[string]int32{}, Targets: map[string]int32{}, Saturated: saturated, Unplaced: int32(w.total - x.sum()),
		Unweighted: w.allEqual && q.Policy != Aggregated && q.Policy != Prioritized}
	for _, name := range w.names {
		d.Replicas[name], d.Targets[name] = int32(x[name]), int32(target[name])
	}
	for name, n := range w.heldReplicas {
		d.Replicas[name], d.Targets[name] = int32(n), int32(n)
	}
	return d
}

var distributions = []Policy{StaticWeighted, DynamicWeighted, LoadWeighted, Aggregated, Prioritized}

// randomDistribution is a small fleet, so that ties and bounds meet. Plain: no limits, thresholds or held clusters.
func randomDistribution(r *rand.Rand, plain bool) DistributeQuestion {
	q := DistributeQuestion{Policy: distributions[r.IntN(len(distributions))], Total: r.Int32N(40)}
	if r.IntN(2) == 0 {
		q.UID = "0b1c"
	}
	sometimes := func(n int) bool { return !plain && r.IntN(n) == 0 }
	for i := range r.IntN(7) {
		c := Cluster{Name: string(rune('a' + i)), Current: r.Int32N(12)}
		c.Preference = Preference{Weight: r.Int64N(4), Priority: r.Int32N(3), Ceiling: maxReplicas}
		c.Load = r.Int64N(3) * 7
		if r.IntN(3) > 0 {
			c.Capacity = new(r.Int32N(12))
		}
		if sometimes(3) {
			c.Limit = new(r.Int32N(9))
		}
		if sometimes(4) {
			c.Ceiling = r.Int32N(15)
		}
		if sometimes(4) {
			c.Floor = min(r.Int32N(4), c.Ceiling)
		}
		c.Held = sometimes(8)
		q.Clusters = append(q.Clusters, c)
	}
	r.Shuffle(len(q.Clusters), func(i, j int) { q.Clusters[i], q.Clusters[j] = q.Clusters[j], q.Clusters[i] })
	return q
}
