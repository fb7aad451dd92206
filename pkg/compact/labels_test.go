// SPDX-License-Identifier: Apache-2.0

package compact

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
)

const podIndex = "apps.kubernetes.io/pod-index"

// Whatever the labels, they come back in order, and are found.
func FuzzLabelsSurvive(f *testing.F) {
	f.Add("app", "web", "web-0")
	f.Add(podIndex, "7", "web-7")
	f.Add("name", "web-0", "web-0")
	f.Add(indexKey, "12", "batch-12-x7k2p")
	f.Add("app", "", "")
	f.Add("", "-", "--")
	f.Fuzz(func(t *testing.T, key, value, name string) {
		want := map[string]string{key: value, indexKey: value, "z": name}
		set := LabelsOf(want, name)
		var keys []string
		for key := range set.All(name) {
			keys = append(keys, key)
		}
		if diff := cmp.Diff(want, maps.Collect(set.All(name))); diff != "" || !slices.IsSorted(keys) {
			t.Errorf("in order %q (-want +got):\n%s", keys, diff)
		}
		view := Named{set, name}
		if !view.Has(key) || view.Get(key) != want[key] || view.Has(key+"x") != (want[key+"x"] != "") {
			t.Errorf("lookup of %q in %v is wrong", key, want)
		}
		if other := LabelsOf(maps.Clone(want), name); other != set {
			t.Errorf("%v are not the same twice", want)
		}
	})
}

func TestLabelsAreFound(t *testing.T) {
	for name, set := range map[string]map[string]string{
		"none":                  nil,
		"one":                   {"app": "shop"},
		"a value that is empty": {"app": "", "b": "c"},
		"keys that begin alike": {"app": "a", "app.kubernetes.io/name": "b", "ap": "c"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Named{LabelsOf(set, "web-0"), "web-0"}
			for _, key := range []string{"app", "ap", "app.kubernetes.io/name", "b", "", "missing"} {
				want, found := set[key]
				if value, has := got.Lookup(key); value != want || has != found || got.Has(key) != found || got.Get(key) != want {
					t.Errorf("%q: got %q, %t; want %q, %t", key, value, has, want, found)
				}
			}
			if got.Labels.Empty() != (len(set) == 0) || got.Labels.Personal() {
				t.Errorf("empty %v, personal %v", got.Labels.Empty(), got.Labels.Personal())
			}
		})
	}
}

func TestLabelsMatch(t *testing.T) {
	numbered := map[string]string{
		"app": "db", podIndex: "7", "statefulset.kubernetes.io/pod-name": "db-7", "empty": "", "seven": "7",
	}
	tests := map[string]struct {
		name, selector string
		want           bool
	}{
		"value":                 {"db-7", "app=db", true},
		"other value":           {"db-7", "app=web", false},
		"its name":              {"db-7", "statefulset.kubernetes.io/pod-name=db-7", true},
		"another's name":        {"db-7", "statefulset.kubernetes.io/pod-name=db-8", false},
		"its number":            {"db-7", podIndex + " in (6,7)", true},
		"another's number":      {"db-7", podIndex + " in (6,8)", false},
		"a number as it stands": {"db-17", podIndex + "=7", true},
		"there":                 {"db-7", "empty", true},
		"empty":                 {"db-7", "empty=", true},
		"not there":             {"db-7", "!none", true},
		"not that":              {"db-7", "app!=db", false},
		"name without a dash":   {"db", "app=db,seven=7", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := selector.Matches(Named{LabelsOf(numbered, tc.name), tc.name}); got != tc.want {
				t.Errorf("%s matches %s = %v, want %v", tc.selector, tc.name, got, tc.want)
			}
			if want := selector.Matches(labels.Set(numbered)); want != tc.want {
				t.Errorf("the test is wrong: want %v", want)
			}
		})
	}
}

// Pods of one workload have the same Labels, though it numbers them; of others they have not.
func TestLabelsAreShared(t *testing.T) {
	type object struct {
		name   string
		labels map[string]string
	}
	for name, tc := range map[string]struct {
		a, b           object
		same, personal bool
	}{
		"none": {object{"web-1", nil}, object{"web-2", map[string]string{}}, true, false},
		"a Deployment": {object{"web-6c5d-x7k2p", map[string]string{"app": "web", "pod-template-hash": "6c5d"}},
			object{"web-6c5d-hj2ks", map[string]string{"app": "web", "pod-template-hash": "6c5d"}}, true, false},
		"a StatefulSet": {object{"db-7", map[string]string{podIndex: "7", "name": "db-7"}},
			object{"db-8", map[string]string{podIndex: "8", "name": "db-8"}}, true, true},
		"an Indexed Job": {object{"sum-3-x7k2p", map[string]string{indexKey: "3"}}, object{"sum-14-hj2ks", map[string]string{indexKey: "14"}},
			true, true},
		"another value": {object{"a", map[string]string{"app": "web"}}, object{"b", map[string]string{"app": "bank"}}, false, false},
		"another key":   {object{"a", map[string]string{"app": "web"}}, object{"b", map[string]string{"tier": "web"}}, false, false},
		"one more": {object{"a", map[string]string{"app": "web"}}, object{"b", map[string]string{"app": "web", "tier": ""}}, false,
			false},
		"named by the other": {object{"a", map[string]string{"name": "x"}}, object{"b", map[string]string{"name": "b"}}, false, false},
	} {
		a, b := LabelsOf(tc.a.labels, tc.a.name), LabelsOf(tc.b.labels, tc.b.name)
		if (a == b) != tc.same || a.Personal() != tc.personal {
			t.Errorf("%s: same %v, personal %v; want %v, %v", name, a == b, a.Personal(), tc.same, tc.personal)
		}
	}
}

func TestPacked(t *testing.T) {
	for _, n := range []int64{0, 1, 0x7f, 0x80, 1 << 20, math.MaxInt64, -1, math.MinInt64} {
		if got, rest := CutNumber(string(AppendNumber(nil, n)) + "x"); got != n || rest != "x" {
			t.Errorf("CutNumber of %d = %d, %q", n, got, rest)
		}
	}
	long := string(make([]byte, 300))
	for _, s := range []string{"", "a", long} {
		if got, rest := CutText(string(AppendText(nil, s)) + "x"); got != s || rest != "x" {
			t.Errorf("CutText of %q = %q, %q", s, got, rest)
		}
	}
}
