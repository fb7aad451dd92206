// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The division must not change with a release: replicas of two releases would share objects.
func TestOfIsForGood(t *testing.T) {
	for name, want := range map[string]int{"shop/web": 18, "shop/cart": 50, "default/web": 36} {
		namespace, name, _ := strings.Cut(name, "/")
		if got := Of(namespace, name, 64); got != want {
			t.Errorf("%s/%s is in shard %d of 64, want %d", namespace, name, got, want)
		}
	}
	if Of("ab", "c", 1<<30) == Of("a", "bc", 1<<30) {
		t.Error("where the namespace ends makes no difference")
	}
}

func TestDivide(t *testing.T) {
	for name, c := range map[string]struct{ holders, alive, want string }{
		"the first":                {"- - - -", "a", "a a a a"},
		"nobody":                   {"a - b", "", "- - -"},
		"two begin":                {"- - - -", "a b", "a b a b"},
		"three begin":              {"- - - -", "c b a", "a a b c"},
		"one more":                 {"a a a a", "a b", "a a b b"},
		"more than shards":         {"a b", "a b c d", "a b"},
		"one is gone":              {"a b c a b c", "a b", "a b a a b b"},
		"who has more keeps more":  {"b b a", "a b", "b b a"},
		"named twice":              {"a a", "a a b", "a b"},
		"held by who is not alive": {"x x x x", "a b", "a b a b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Divide(parse(c.holders), strings.Fields(c.alive)); !slices.Equal(got, parse(c.want)) {
				t.Errorf("%q of %q: %q, want %q", c.holders, c.alive, got, c.want)
			}
		})
	}
}

func parse(text string) []string {
	holders := strings.Fields(text)
	for i, h := range holders {
		if h == "-" {
			holders[i] = ""
		}
	}
	return holders
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		holders string
		others  Others
		hold    string
		begin   bool
	}{
		"others rest":               {"a - b b b -", OthersRest, "0 1 5", true},
		"others may still work":     {"a - b b b -", OthersWork, "0", false},
		"another leads":             {"a - b b b -", OthersLead, "", false},
		"more than its part":        {"a a a a b -", OthersRest, "0 1 2", true},
		"more, while others work":   {"a a a a b -", OthersWork, "0 1 2", false},
		"nothing is left for it":    {"b b b - - -", OthersRest, "3 4 5", true},
		"none, while others work":   {"- - - - - -", OthersWork, "", false},
		"what b should have, waits": {"- - - - - -", OthersRest, "0 2 4", true},
	} {
		t.Run(name, func(t *testing.T) {
			hold, begin := Decide(View{Me: "a", Alive: []string{"a", "b"}, Holders: parse(c.holders), Others: c.others})
			var got []string
			for shard, holds := range hold {
				if holds {
					got = append(got, fmt.Sprint(shard))
				}
			}
			if s := strings.Join(got, " "); s != c.hold || begin != c.begin {
				t.Errorf("holds %q, begins: %t, want %q and %t", s, begin, c.hold, c.begin)
			}
		})
	}
}

// Whatever is held by whomever: all shards are divided evenly, nothing is moved again, and as little as can be is moved at all.
func TestDivideProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := strings.Fields("a b c d e")
	for range 1000 {
		holders := make([]string, 1+random.IntN(5))
		for i := range holders {
			holders[i] = append(names, "")[random.IntN(len(names)+1)]
		}
		alive := names[:1+random.IntN(3)]
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		should := Divide(holders, alive)
		if !even(should, alive) {
			t.Fatalf("%q of %q: %q is uneven", holders, alive, should)
		}
		if again := Divide(should, alive); !slices.Equal(again, should) {
			t.Fatalf("%q of %q: %q, and then %q", holders, alive, should, again)
		}
		if got, least := moved(holders, should), leastMoved(holders, alive); got != least {
			t.Fatalf("%q of %q: %q moves %d shards, where %d do", holders, alive, should, got, least)
		}
		shuffled := slices.Clone(alive)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if other := Divide(holders, shuffled); !slices.Equal(other, should) {
			t.Fatalf("%q of %q: %q, and of %q: %q", holders, alive, should, shuffled, other)
		}
	}
}

func even(should, alive []string) bool {
	least, most, all := len(should), 0, 0
	for _, replica := range alive {
		n := 0
		for _, holder := range should {
			if holder == replica {
				n++
			}
		}
		least, most, all = min(least, n), max(most, n), all+n
	}
	return all == len(should) && most-least <= 1
}

func moved(before, after []string) (n int) {
	for i := range before {
		if before[i] != after[i] {
			n++
		}
	}
	return n
}

// leastMoved tries every division.
func leastMoved(holders, alive []string) int {
	least, should := len(holders), make([]string, len(holders))
	var try func(shard int)
	try = func(shard int) {
		if shard == len(should) {
			if even(should, alive) {
				least = min(least, moved(holders, should))
			}
			return
		}
		for _, replica := range alive {
			should[shard] = replica
			try(shard + 1)
		}
	}
	try(0)
	return least
}

// Replicas that come and go, and see what others hold late, take and give up one Lease at a time. Once nobody comes or goes any more,
// the shards are divided evenly, and stay so.
func TestReplicasConverge(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 3))
		holders, alive := make([]string, 1+random.IntN(64)), []string{"r0"}
		views := map[string][]string{} // what each replica last saw
		step := func(replica string) (changed bool) {
			if random.IntN(3) > 0 {
				views[replica] = slices.Clone(holders)
			}
			if views[replica] == nil {
				return true
			}
			hold, _ := Decide(View{Me: replica, Alive: alive, Holders: views[replica]})
			for shard, should := range hold {
				switch {
				case should && holders[shard] == "":
					holders[shard], changed = replica, true
				case !should && holders[shard] == replica:
					holders[shard], changed = "", true
				}
			}
			return changed
		}
		for round := range 100 {
			if round < 40 && random.IntN(4) == 0 {
				alive = comeOrGo(random, alive, holders, round)
			}
			for range alive {
				step(alive[random.IntN(len(alive))])
			}
		}
		if !even(holders, alive) {
			t.Fatalf("seed %d: %q of %q is uneven after all", seed, holders, alive)
		}
		for _, replica := range alive {
			views[replica] = slices.Clone(holders)
			if step(replica) {
				t.Fatalf("seed %d: %s moves shards though they are divided evenly", seed, replica)
			}
		}
	}
}

// comeOrGo has a replica begin, or one end, with what it held.
func comeOrGo(random *rand.Rand, alive, holders []string, round int) []string {
	if len(alive) < 8 && random.IntN(2) == 0 {
		return append(slices.Clone(alive), fmt.Sprintf("r%d", round+1))
	}
	if len(alive) == 1 {
		return alive
	}
	gone := alive[random.IntN(len(alive))]
	for shard, holder := range holders {
		if holder == gone {
			holders[shard] = ""
		}
	}
	return slices.DeleteFunc(slices.Clone(alive), func(replica string) bool { return replica == gone })
}

// Of 64 shards, up to 8 replicas get as many objects as others, by a fifth more or less.
func TestObjectsOfReplicas(t *testing.T) {
	const objects, each, shards = 50_000, 100, 64
	var of [shards]int
	for i := range objects {
		of[Of(fmt.Sprintf("team-%d", i/each), fmt.Sprintf("web-%d", i%each), shards)]++
	}
	for replicas := 2; replicas <= 8; replicas++ {
		var alive []string
		for i := range replicas {
			alive = append(alive, fmt.Sprintf("controller-manager-%d", i))
		}
		got := map[string]int{}
		for shard, replica := range Divide(make([]string, shards), alive) {
			got[replica] += of[shard]
		}
		least, most := objects, 0
		for _, n := range got {
			least, most = min(least, n), max(most, n)
		}
		if difference := float64(most-least) / (objects / float64(replicas)); len(got) != replicas || difference > 0.2 {
			t.Errorf("%d replicas: from %d to %d objects, which differ by %.1f %%, want 20 %% at most", replicas, least, most, 100*difference)
		}
	}
}
