// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// held is one entry of the judge's: the same rule, in the plainest words.
type held struct {
	tenant, key string
	weight      int64
}

// judge keeps entries in the order of their use, the oldest first.
type judge struct {
	limit, each int64
	entries     []held
}

func (j *judge) index(key string) int {
	return slices.IndexFunc(j.entries, func(h held) bool { return h.key == key })
}

func (j *judge) weights() (total int64, of map[string]int64) {
	of = map[string]int64{}
	for _, h := range j.entries {
		total += h.weight
		of[h.tenant] += h.weight
	}
	return total, of
}

func (j *judge) remove(key string) string {
	i := j.index(key)
	j.entries = slices.Delete(j.entries, i, i+1)
	return key
}

// oldestOf is the key of that tenant, or of any of those that weigh the most.
func (j *judge) oldestOf(tenant string) string {
	_, of := j.weights()
	var most int64
	for _, weight := range of {
		most = max(most, weight)
	}
	i := slices.IndexFunc(j.entries, func(h held) bool { return h.tenant == tenant || tenant == "" && of[h.tenant] == most })
	return j.entries[i].key
}

func (j *judge) put(tenant, key string, weight int64) (givenUp []string) {
	if i := j.index(key); i >= 0 {
		j.entries[i].weight = weight
	} else {
		j.entries = append(j.entries, held{tenant, key, weight})
	}
	if weight > j.each {
		return []string{j.remove(key)}
	}
	for {
		total, of := j.weights()
		switch {
		case of[tenant] > j.each:
			givenUp = append(givenUp, j.remove(j.oldestOf(tenant)))
		case total > j.limit:
			givenUp = append(givenUp, j.remove(j.oldestOf("")))
		default:
			return givenUp
		}
	}
}

func (j *judge) use(key string) {
	if i := j.index(key); i >= 0 {
		h := j.entries[i]
		j.entries = append(slices.Delete(j.entries, i, i+1), h)
	}
}

// whatever happens, the bounds hold and nobody within a fair share loses
// anything to others; and each step is the judge's.
func TestFairShares(t *testing.T) {
	const seeds, steps = 300, 400
	for seed := range uint64(seeds) {
		dice := rand.New(rand.NewPCG(seed, 1))
		j := &judge{limit: 20 + dice.Int64N(100)}
		each := int64(0)
		if j.each = j.limit; dice.IntN(2) == 0 {
			each = 1 + dice.Int64N(j.limit)
			j.each = each
		}
		l := NewLedger[string](j.limit, each)
		names := 1 + dice.IntN(8)
		for step := range steps {
			tenant := string(rune('a' + dice.IntN(names)))
			key := fmt.Sprintf("%s/%d", tenant, dice.IntN(12))
			what := fmt.Sprintf("seed %d, step %d", seed, step)
			switch dice.IntN(6) {
			case 0:
				l.Use(key)
				j.use(key)
			case 1:
				if l.Remove(key); j.index(key) >= 0 {
					j.remove(key)
				}
			default:
				weight := 1 + dice.Int64N(1+j.limit/(1+dice.Int64N(20)))
				before := slices.Clone(j.entries)
				givenUp := l.Put(tenant, key, weight)
				wantFair(t, what, j.limit, tenant, before, givenUp)
				if diff := cmp.Diff(j.put(tenant, key, weight), givenUp); diff != "" {
					t.Fatalf("%s: given up (-judge +ledger):\n%s", what, diff)
				}
			}
			wantWithinBounds(t, what, l, j)
		}
	}
}

// wantFair: of those who were there before and of who puts now, no other one gives up anything within its share.
func wantFair(t *testing.T, what string, limit int64, putter string, before []held, givenUp []string) {
	t.Helper()
	of := map[string]int64{putter: 0}
	for _, h := range before {
		of[h.tenant] += h.weight
	}
	share := float64(limit) / float64(len(of))
	for _, key := range givenUp {
		tenant, _, _ := strings.Cut(key, "/")
		if tenant != putter && float64(of[tenant]) <= share {
			t.Fatalf("%s: %s holds %d, within the share %.1f, and gave up %s to %s", what, tenant, of[tenant], share, key, putter)
		}
	}
}

func wantWithinBounds(t *testing.T, what string, l *Ledger[string], j *judge) {
	t.Helper()
	total, of := j.weights()
	if l.Weight() != total || total > j.limit {
		t.Fatalf("%s: the weight is %d, of the judge's entries %d, the limit %d", what, l.Weight(), total, j.limit)
	}
	for tenant, weight := range of {
		if weight > j.each {
			t.Fatalf("%s: %s holds %d of at most %d", what, tenant, weight, j.each)
		}
	}
	if len(l.entries) != len(j.entries) || len(l.tenants) != len(of) || len(l.heaviest) != len(of) {
		t.Fatalf("%s: %d entries, %d tenants, %d in the heap; want %d and %d", what, len(l.entries), len(l.tenants), len(l.heaviest),
			len(j.entries), len(of))
	}
}

func TestLedger(t *testing.T) {
	type put struct {
		tenant, key string
		weight      int64
		want        []string
	}
	tests := map[string]struct {
		limit, each int64
		puts        []put
	}{
		"one tenant may have all": {10, 0, []put{{"a", "1", 5, nil}, {"a", "2", 5, nil}, {"a", "3", 1, []string{"1"}}}},
		"not more than each":      {10, 4, []put{{"a", "1", 2, nil}, {"a", "2", 2, nil}, {"a", "3", 1, []string{"1"}}}},
		"who holds most gives up, not who comes": {10, 0, []put{{"a", "1", 4, nil}, {"a", "2", 5, nil}, {"b", "3", 2, []string{"1"}},
			{"b", "4", 3, nil}}},
		"who comes with more gives up that": {10, 0, []put{{"a", "1", 5, nil}, {"b", "2", 6, []string{"2"}}}},
		"of equals who is idle for the longest": {3, 0, []put{{"a", "1", 1, nil}, {"b", "2", 1, nil}, {"c", "3", 1, nil},
			{"d", "4", 1, []string{"1"}}}},
		"what is too much alone costs nothing else": {10, 0, []put{{"a", "1", 5, nil}, {"a", "2", 11, []string{"2"}}}},
		"what has grown too much goes":              {10, 0, []put{{"a", "1", 5, nil}, {"a", "1", 11, []string{"1"}}, {"a", "1", 10, nil}}},
		"a new weight replaces the old, in its place": {10, 0, []put{{"a", "1", 5, nil}, {"a", "2", 5, nil}, {"a", "1", 4, nil},
			{"a", "3", 2, []string{"1"}}}},
		"as many as are needed": {10, 0, []put{{"a", "1", 3, nil}, {"a", "2", 3, nil}, {"a", "3", 3, nil}, {"a", "4", 7, []string{"1", "2"}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := NewLedger[string](tc.limit, tc.each)
			for i, p := range tc.puts {
				if diff := cmp.Diff(p.want, l.Put(p.tenant, p.key, p.weight)); diff != "" {
					t.Errorf("put %d gives up (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// What many tenants hold costs each step no more for it.
func BenchmarkPut(b *testing.B) {
	for _, tenants := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			l := NewLedger[int](int64(tenants), 0)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Put(fmt.Sprint(i%(2*tenants)), i, 1)
			}
		})
	}
}
