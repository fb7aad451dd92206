// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		selector     string
		wantWord     Word
		wantClusters string
		wantPartial  bool
		wantRest     string
	}{
		"an empty selector chooses nothing":   {},
		"what is not ours is for the members": {selector: "a=b,c in (d,e),!f", wantRest: "a=b,c in (d,e),!f"},
		"a word":                              {selector: "fleetscale.io/merge=avg,a=b", wantWord: Avg, wantRest: "a=b"},
		"a word, written with ==":             {selector: "fleetscale.io/merge==min", wantWord: Min},
		"a word, as a set of one":             {selector: "fleetscale.io/merge in (max)", wantWord: Max},
		"the same word twice is one":          {selector: "fleetscale.io/merge=sum,fleetscale.io/merge in (sum)", wantWord: Sum},
		"a part is enough":                    {selector: "fleetscale.io/partial=allow", wantPartial: true},
		"one cluster": {selector: "fleetscale.io/cluster=east,a=b", wantClusters: "fleetscale.io/cluster=east",
			wantRest: "a=b"},
		"several clusters, but not one": {selector: "fleetscale.io/cluster in (a,b),fleetscale.io/cluster!=b",
			wantClusters: "fleetscale.io/cluster in (a,b),fleetscale.io/cluster!=b"},
		"a key that only begins like ours": {selector: "fleetscale.io/merged=yes", wantRest: "fleetscale.io/merged=yes"},
		"all that there is": {"fleetscale.io/merge=max,a,fleetscale.io/partial=allow,fleetscale.io/cluster=east", Max,
			"fleetscale.io/cluster=east", true, "a"},
		"ours without a member's requirements": {"fleetscale.io/merge=max,fleetscale.io/partial=allow", Max, "", true, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, rest, err := Choose(selector)
			if err != nil {
				t.Fatalf("Choose(%q): %v", tc.selector, err)
			}
			if got.Word != tc.wantWord || got.AllowPartial != tc.wantPartial || got.Clusters.String() != tc.wantClusters ||
				rest.String() != tc.wantRest {
				t.Errorf("Choose(%q) = %+v and %q, want %+v", tc.selector, got, rest, tc)
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	const (
		word    = ": fleetscale.io/merge takes one of sum, avg, max, min, written fleetscale.io/merge=sum"
		partial = ": fleetscale.io/partial takes one of allow, written fleetscale.io/partial=allow"
	)
	tests := map[string]string{
		"fleetscale.io/merge=median":                       `metric selector "fleetscale.io/merge=median"` + word,
		"fleetscale.io/merge=Sum":                          `metric selector "fleetscale.io/merge=Sum"` + word,
		"fleetscale.io/merge=":                             `metric selector "fleetscale.io/merge="` + word,
		"fleetscale.io/merge":                              `metric selector "fleetscale.io/merge"` + word,
		"!fleetscale.io/merge":                             `metric selector "!fleetscale.io/merge"` + word,
		"fleetscale.io/merge!=sum":                         `metric selector "fleetscale.io/merge!=sum"` + word,
		"fleetscale.io/merge notin (sum)":                  `metric selector "fleetscale.io/merge notin (sum)"` + word,
		"fleetscale.io/merge in (max,sum)":                 `metric selector "fleetscale.io/merge in (max,sum)"` + word,
		"fleetscale.io/merge=max,fleetscale.io/merge=sum":  `metric selector "fleetscale.io/merge=max,fleetscale.io/merge=sum"` + word,
		"fleetscale.io/merge=max,fleetscale.io/merge!=sum": `metric selector "fleetscale.io/merge=max,fleetscale.io/merge!=sum"` + word,
		"fleetscale.io/merge>1":                            `metric selector "fleetscale.io/merge>1"` + word,
		"fleetscale.io/partial=yes":                        `metric selector "fleetscale.io/partial=yes"` + partial,
		"a=b,fleetscale.io/partial":                        `metric selector "fleetscale.io/partial"` + partial,
		"fleetscale.io/merge=median,a,fleetscale.io/partial=yes": `metric selector "fleetscale.io/merge=median"` + word +
			`; metric selector "fleetscale.io/partial=yes"` + partial,
	}
	for text, want := range tests {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Choose(selector); err == nil || err.Error() != want {
			t.Errorf("Choose(%q) error = %v\nwant %s", text, err, want)
		}
	}
}

func TestChooseNothingAsksNobody(t *testing.T) {
	choice, rest, err := Choose(labels.Nothing())
	if err != nil || !labels.MatchesNothing(choice.Clusters) || !labels.MatchesNothing(rest) {
		t.Errorf("Choose(nothing) = %+v and %#v, %v, want nothing and nothing", choice, rest, err)
	}
}
