// SPDX-License-Identifier: Apache-2.0

package central

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The shelves find whom a search through all finds, and keep nothing of those that are gone.
func TestSelectorsByShelf(t *testing.T) {
	texts := []string{"app=a", "app=b", "app in (a)", "app in (a,b)", "app", "!app", "app!=a", "tier=x", "app=a,tier=x", "app=b,tier=y",
		"tier in (x,y),app=a", "app==a"}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newSelectors()
		text := map[client.ObjectKey]string{}
		for range 60 {
			key := client.ObjectKey{Namespace: fmt.Sprint("ns", r.IntN(2)), Name: fmt.Sprint("fhpa", r.IntN(8))}
			if r.IntN(4) == 0 {
				delete(text, key)
				s.forget(key)
				continue
			}
			text[key] = texts[r.IntN(len(texts))]
			selector, err := labels.Parse(text[key])
			if err != nil {
				t.Fatal(err)
			}
			var found []client.ObjectKey
			for _, c := range s.choose(key, text[key], selector, []string{"east"}) {
				found = append(found, c.key)
			}
			for other, theirs := range text {
				if other != key && other.Namespace == key.Namespace && overlap(t, text[key], theirs) && !slices.Contains(found, other) {
					t.Fatalf("seed %d: %v with %q does not find %v with %q", seed, key, text[key], other, theirs)
				}
			}
			if slices.ContainsFunc(found, func(k client.ObjectKey) bool { return text[k] == "" || k == key || k.Namespace != key.Namespace }) {
				t.Fatalf("seed %d: %v finds %v", seed, key, found)
			}
		}
		for key := range text {
			s.forget(key)
		}
		if len(s.byKey)+len(s.byNamespace) > 0 {
			t.Fatalf("seed %d: kept %v %v", seed, s.byKey, s.byNamespace)
		}
	}
}

// overlap reports whether some Pod matches both, by trying all that matter.
func overlap(t *testing.T, a, b string) bool {
	t.Helper()
	both, err := labels.Parse(a + "," + b)
	if err != nil {
		t.Fatal(err)
	}
	for _, app := range []string{"", "a", "b", "c"} {
		for _, tier := range []string{"", "x", "y", "z"} {
			set := labels.Set{}
			if app != "" {
				set["app"] = app
			}
			if tier != "" {
				set["tier"] = tier
			}
			if both.Matches(set) {
				return true
			}
		}
	}
	return false
}
