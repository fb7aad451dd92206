// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// neighbours is one case of testdata/rules.yaml: two objects that differ in one field.
type neighbours struct {
	Base  string `json:"base"`
	Field string `json:"field"` // names and indices, with dots
	Good  any    `json:"good"`
	Bad   any    `json:"bad"`
	Want  string `json:"want"`

	kind      string
	good, bad map[string]any
}

func TestRules(t *testing.T) {
	all := servers(t)
	for _, c := range cases(t) {
		t.Run(c.Base+" "+c.Field, func(t *testing.T) {
			if _, errs := all[c.kind].create(t.Context(), c.good); len(errs) > 0 {
				t.Errorf("with %v refused: %v", c.Good, errs.ToAggregate())
			}
			if _, errs := all[c.kind].create(t.Context(), c.bad); !says(errs, c.Want) {
				t.Errorf("with %v got %v, want %s", c.Bad, errs.ToAggregate(), c.Want)
			}
		})
	}
}

func cases(t testing.TB) []neighbours {
	t.Helper()
	bases := map[string]*unstructured.Unstructured{}
	for _, base := range documents(t, "testdata/bases.yaml") {
		bases[base.GetName()] = base
	}
	text, err := os.ReadFile("testdata/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []neighbours
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	all = append(all, passedOn(all)...)
	for i := range all {
		c, base := &all[i], bases[all[i].Base]
		if base == nil {
			t.Fatalf("case %d has no base %q", i, c.Base)
		}
		c.kind = base.GetKind()
		c.good, c.bad = with(t, base.Object, c.Field, c.Good), with(t, base.Object, c.Field, c.Bad)
	}
	return all
}

// passedOn are the cases of a FederatedHPA once more, for the fields that a MultidimPodAutoscaler passes to one, and for those that a
// CronFederatedHPA has too. Bounds are their own.
func passedOn(all []neighbours) []neighbours {
	var more []neighbours
	home := strings.NewReplacer("spec.metrics", "spec.goals.metrics", "spec.behavior", "spec.constraints.global.behavior")
	placement := regexp.MustCompile(`^spec\.(clusterAffinity|clusterTolerations|replicaDistribution\.clusterAutoscalingPreference)\b`)
	for _, c := range all {
		if c.Base == "central" && placement.MatchString(c.Field) {
			rule := c
			rule.Base = "divided"
			more = append(more, rule)
		}
		if c.Base != "central" && c.Base != "distributed" || c.Field == "spec.minReplicas" || c.Field == "spec.maxReplicas" {
			continue
		}
		c.Base, c.Field, c.Want = "multidim-"+c.Base, home.Replace(c.Field), home.Replace(c.Want)
		more = append(more, c)
	}
	return more
}

// with returns a copy of object with another value in one field.
func with(t testing.TB, object map[string]any, path string, value any) map[string]any {
	t.Helper()
	object = runtime.DeepCopyJSON(object)
	steps := strings.Split(path, ".")
	var at any = object
	for _, step := range steps[:len(steps)-1] {
		at = below(t, at, step)
	}
	last := steps[len(steps)-1]
	items, isList := at.([]any)
	switch absent, _ := value.(map[string]any); {
	case isList:
		i, err := strconv.Atoi(last)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		items[i] = whole(value)
	case absent["absent"] == true:
		delete(at.(map[string]any), last)
	default:
		at.(map[string]any)[last] = whole(value)
	}
	return object
}

func below(t testing.TB, at any, step string) any {
	t.Helper()
	switch at := at.(type) {
	case map[string]any:
		return at[step]
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(at) {
			t.Fatalf("no item %s", step)
		}
		return at[i]
	}
	t.Fatalf("nothing below %v", at)
	return nil
}

// whole makes whole numbers int64, as an API server's decoder does.
func whole(value any) any {
	switch value := value.(type) {
	case float64:
		return int64(value)
	case map[string]any:
		for name := range value {
			value[name] = whole(value[name])
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	}
	return value
}

// reports whether one of the errors is the one that want tells, as path, kind and detail, without the value.
func says(errs field.ErrorList, want string) bool {
	for _, err := range errs {
		words := err.Field + ": " + string(err.Type.String())
		if err.Type == field.ErrorTypeNotSupported || err.Type == field.ErrorTypeDuplicate && err.Detail == "" {
			words = err.Error()
		} else if err.Detail != "" {
			words += ": " + err.Detail
		}
		if strings.HasPrefix(words, want) {
			return true
		}
	}
	return false
}
