// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const seeds = 500 // that plain `go test` runs

// FuzzNumbers holds every word, on what an autoscaler reads, to the same word on fractions.
func FuzzNumbers(f *testing.F) {
	for seed := range int64(seeds) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		f.Add(r.Int64()>>r.IntN(64), -(r.Int64() >> r.IntN(64)), r.Int64()>>r.IntN(64), r.IntN(40)-9, r.IntN(40)-9, r.IntN(40)-9)
	}
	f.Add(int64(9223372036854775807), int64(1), int64(0), -3, -3, 0)
	f.Add(int64(-9223372036854775807), int64(-1), int64(0), -3, -3, 0)
	f.Add(int64(100), int64(100), int64(0), -6, -6, 0)
	f.Add(int64(-100), int64(-100), int64(-1), -6, -6, -9)
	f.Add(int64(-9223372036854775799), int64(88), int64(0), -9, -3, 0)
	f.Fuzz(func(t *testing.T, a, b, c int64, ea, eb, ec int) {
		var numbers []number
		for _, n := range []struct {
			mantissa int64
			exponent int
		}{{a, ea}, {b, eb}, {c, ec}} {
			if n.exponent < -9 || n.exponent > 30 {
				return
			}
			numbers = append(numbers, numberOf(n.mantissa, n.exponent))
		}
		parts := objects{}
		for i, n := range numbers {
			parts[fmt.Sprint(i)] = []custom_metrics.MetricValue{with(object("web", "0"),
				func(v *custom_metrics.MetricValue) { v.Value = n.quantity() })}
		}
		got := map[Word]*big.Int{}
		for _, word := range words {
			whole, _ := Object(word, parts)
			got[word] = read(t, whole.Value)
			if want := byDefinition(word, numbers); got[word].Cmp(want) != 0 {
				t.Errorf("the %s of %v is %v milli, by definition %v", word, numbers, got[word], want)
			}
		}
		if got[Avg].Cmp(got[Min]) < 0 || got[Avg].Cmp(got[Max]) > 0 {
			t.Errorf("of %v the average %v is not between %v and %v", numbers, got[Avg], got[Min], got[Max])
		}
		if min(a, b, c) >= 0 && got[Sum].Cmp(got[Max]) < 0 {
			t.Errorf("of %v the sum %v is below a part, %v", numbers, got[Sum], got[Max])
		}
		holdsPassed(t, numbers[0])
	})
}

// holdsPassed holds what is passed on to be read as what it was.
func holdsPassed(t *testing.T, n number) {
	t.Helper()
	whole, _ := Object(Sum, objects{"a": {with(object("web", "0"), func(v *custom_metrics.MetricValue) { v.Value = n.quantity() })}})
	if want, got := milli(clamp(n.rat)), read(t, whole.Value); want.Cmp(got) != 0 {
		t.Errorf("%s passed on is read as %v milli, want %v", n.text, got, want)
	}
}

func randomObjects(r *rand.Rand) objects {
	parts := objects{}
	for cluster := range r.IntN(5) {
		for range r.IntN(6) {
			item := object(string(rune('a'+r.IntN(4))), "0")
			item.Value = randomNumber(r).quantity()
			item.Timestamp = at(r.IntN(3))
			if r.IntN(2) == 0 {
				item.Metric.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"x": fmt.Sprint(r.IntN(2))}}
			}
			if r.IntN(2) == 0 {
				item.WindowSeconds = new(r.Int64N(3))
			}
			parts[fmt.Sprint("c", cluster)] = append(parts[fmt.Sprint("c", cluster)], item)
		}
	}
	return parts
}

// FuzzObjects holds the union to what makes it one: nothing is lost, added or
// moved, and the order in which it came does not show.
func FuzzObjects(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		parts := randomObjects(r)
		before := text(t, parts)
		union := Objects(parts)
		if after := text(t, parts); after != before {
			t.Fatalf("the input was written to:\n%s\n%s", before, after)
		}
		largest := map[string]*big.Int{}
		for cluster, items := range parts {
			for _, item := range items {
				id := fmt.Sprint(item.DescribedObject.Name, " ", cluster)
				if value := read(t, passed(item.Value)); largest[id] == nil || value.Cmp(largest[id]) > 0 {
					largest[id] = value
				}
			}
		}
		var order []string
		for _, item := range union {
			id := fmt.Sprint(item.DescribedObject.Name, " ", marked(item))
			order = append(order, id)
			if got := read(t, item.Value); largest[id] == nil || got.Cmp(largest[id]) != 0 {
				t.Errorf("%s is %v, want %v", id, got, largest[id])
			}
		}
		if want := slices.Sorted(maps.Keys(largest)); !slices.Equal(want, order) {
			t.Errorf("the union is %v, want %v", order, want)
		}
		for _, items := range parts {
			r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		}
		equal(t, "with items in another order", union, Objects(parts))
		holdsSplit(t, r, parts, union)
	})
}

// holdsSplit spreads each cluster's objects over two. But for the marks, nothing may change.
func holdsSplit(t *testing.T, r *rand.Rand, parts objects, union []custom_metrics.MetricValue) {
	t.Helper()
	halves, home := objects{}, map[string]string{}
	for cluster, items := range parts {
		for _, item := range items {
			id := cluster + " " + item.DescribedObject.Name
			if home[id] == "" {
				home[id] = cluster + string(rune('0'+r.IntN(2)))
			}
			halves[home[id]] = append(halves[home[id]], item)
		}
	}
	split := Objects(halves)
	if len(split) != len(union) {
		t.Fatalf("%d items after the split, %d before", len(split), len(union))
	}
	equal(t, "after the split", stripMarks(union), stripMarks(split))
}

// stripMarks takes the marks off copies.
func stripMarks(items []custom_metrics.MetricValue) []custom_metrics.MetricValue {
	bare := slices.Clone(items)
	for i := range bare {
		selector := bare[i].Metric.Selector.DeepCopy()
		delete(selector.MatchLabels, fleet.ClusterLabel)
		bare[i].Metric.Selector = selector
	}
	return bare
}

// FuzzSeries holds series to a definition by fractions, and to what no word may depend on.
func FuzzSeries(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed, int(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, pick int) {
		word := words[uint(pick)%4]
		r := rand.New(rand.NewPCG(seed, 0))
		parts, numbers := randomSeries(r)
		before := text(t, parts)
		merged := Series(word, parts)
		if after := text(t, parts); after != before {
			t.Fatalf("the input was written to:\n%s\n%s", before, after)
		}
		if len(merged) != len(numbers) {
			t.Fatalf("%d series, want %d", len(merged), len(numbers))
		}
		for _, s := range merged {
			same := numbers[fmt.Sprintf("%q", s.MetricLabels)]
			if len(same) < 2 {
				continue // passed on: FuzzNumbers
			}
			if got, want := read(t, s.Value), byDefinition(word, same); got.Cmp(want) != 0 {
				t.Errorf("the %s of %v is %v milli, by definition %v", word, same, got, want)
			}
		}
		if !Covers(parts, SeenIn(merged)) {
			t.Error("what was merged is not covered by its parts")
		}
		permuted := seriesMap{}
		names := slices.Sorted(maps.Keys(parts))
		for i, j := range r.Perm(len(names)) {
			permuted[names[i]] = slices.Clone(parts[names[j]])
			slices.Reverse(permuted[names[i]])
		}
		equal(t, "clusters permuted", merged, Series(word, permuted))
		if word == Max || word == Min {
			halves := seriesMap{}
			for cluster, items := range parts {
				for _, item := range items {
					half := cluster + string(rune('0'+r.IntN(2)))
					halves[half] = append(halves[half], item)
				}
			}
			equal(t, "clusters split", merged, Series(word, halves))
			doubled := maps.Clone(parts)
			for cluster, items := range parts {
				doubled[cluster+"'s twin"] = items
			}
			if len(numbers) > 0 {
				for i, s := range Series(word, doubled) {
					if read(t, s.Value).Cmp(read(t, merged[i].Value)) != 0 && len(numbers[fmt.Sprintf("%q", s.MetricLabels)]) > 1 {
						t.Errorf("seen by twice as many clusters, %v became %v", &merged[i].Value, &s.Value)
					}
				}
			}
		}
	})
}

// randomSeries also returns each series' numbers, by its labels. No cluster has one twice.
func randomSeries(r *rand.Rand) (seriesMap, map[string][]number) {
	pool := []map[string]string{nil, {"a": ""}, {"a": "b"}, {"a": "b", "c": "d"}, {"a": "b\x00\x01c\x00\x01d"}, {"c": "d"}, {"ab": ""},
		{"a": "\x00"}, {"a": "\x00\xff"}, {"a\x00": ""}}
	parts, numbers := seriesMap{}, map[string][]number{}
	for cluster := range r.IntN(6) {
		for _, i := range r.Perm(len(pool))[:r.IntN(len(pool))] {
			n := randomNumber(r)
			item := external("0", pool[i])
			item.Value, item.Timestamp = n.quantity(), at(r.IntN(3))
			if r.IntN(2) == 0 {
				item.WindowSeconds = new(r.Int64N(3))
			}
			name := fmt.Sprint("c", cluster)
			parts[name] = append(parts[name], item)
			id := fmt.Sprintf("%q", pool[i])
			numbers[id] = append(numbers[id], n)
		}
	}
	return parts, numbers
}

// FuzzIdentity holds that two series are the same exactly when their names and labels are.
func FuzzIdentity(f *testing.F) {
	f.Add("m", "a", "b", "m", "a", "b")
	f.Add("m", "a", "\x00\x01b", "m", "a\x00\x01", "b")
	f.Add("m", "a", "\x00", "m", "a", "\x00\xff")
	f.Fuzz(func(t *testing.T, m1, k1, v1, m2, k2, v2 string) {
		s1 := external_metrics.ExternalMetricValue{MetricName: m1, MetricLabels: map[string]string{k1: v1}}
		s2 := external_metrics.ExternalMetricValue{MetricName: m2, MetricLabels: map[string]string{k2: v2}}
		same := m1 == m2 && k1 == k2 && v1 == v2
		if got := len(Series("", seriesMap{"a": {s1}, "b": {s2}})) == 1; got != same {
			t.Errorf("%v and %v are one series: %v, want %v", s1, s2, got, same)
		}
		if got := Covers(seriesMap{"a": {s1}}, SeenIn([]external_metrics.ExternalMetricValue{s2})); got != same {
			t.Errorf("%v covers %v: %v, want %v", s1, s2, got, same)
		}
	})
}

// FuzzChoose holds that no requirement is lost or changed on the way, and that none of ours reaches a member.
func FuzzChoose(f *testing.F) {
	f.Add("a=b,fleetscale.io/merge=max,c in (d,e),!f")
	f.Add("fleetscale.io/partial=allow,fleetscale.io/cluster in (a,b),fleetscale.io/cluster!=c")
	f.Add("fleetscale.io/merge in (sum,max)")
	f.Add("fleetscale.io/merge!=sum,fleetscale.io/partial")
	f.Fuzz(func(t *testing.T, s string) {
		selector, err := labels.Parse(s)
		if err != nil {
			return
		}
		choice, rest, err := Choose(selector)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %v", err)
			}
			return
		}
		if strings.Contains(rest.String(), WordKey) || strings.Contains(rest.String(), PartialKey) {
			if r, _ := rest.Requirements(); slices.ContainsFunc(r, func(r labels.Requirement) bool {
				return r.Key() == WordKey ||
					r.Key() == PartialKey
			}) {
				t.Errorf("a key of ours is left in %q", rest)
			}
		}
		if choice.Word != "" && !slices.Contains(words, choice.Word) {
			t.Errorf("%q chose %q", s, choice.Word)
		}
		all, _ := selector.Requirements()
		ours, _ := choice.Clusters.Requirements()
		theirs, _ := rest.Requirements()
		var want, got []string
		for _, r := range all {
			if r.Key() != WordKey && r.Key() != PartialKey {
				want = append(want, r.String())
			}
		}
		for _, r := range ours {
			if r.Key() != fleet.ClusterLabel {
				t.Errorf("%v is not on clusters", r)
			}
			got = append(got, r.String())
		}
		for _, r := range theirs {
			if r.Key() == fleet.ClusterLabel {
				t.Errorf("%v would reach a member", r)
			}
			got = append(got, r.String())
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("of %q remain %v, want %v", s, got, want)
		}
	})
}
