// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"os"
	"slices"
	"testing"
	_ "time/tzdata" // the zones of the manifests, wherever the tests run

	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestManifests(t *testing.T) {
	cases := load(t)
	if least := 200; len(cases) < least {
		t.Errorf("%d manifests, want at least %d", len(cases), least)
	}
	for _, c := range cases {
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			faults, warnings := admit(t, c)
			var rules, errors []string
			for _, fault := range faults {
				rules, errors = append(rules, fault.Origin), append(errors, fault.Error())
			}
			slices.Sort(rules)
			inAnyOrder := cmpopts.SortSlices(func(a, b string) bool { return a < b })
			fleettest.Same(t, "rules", c.Rules, slices.Compact(rules), cmpopts.EquateEmpty(), inAnyOrder)
			fleettest.Same(t, "errors", c.Errors, errors, cmpopts.EquateEmpty(), inAnyOrder)
			fleettest.Same(t, "warnings", c.Warnings, warnings, cmpopts.EquateEmpty())
		})
	}
}

// Each rule refuses a manifest that one field sets apart from an accepted one.
func TestEveryRuleHasNeighboursOnBothSides(t *testing.T) {
	parted := map[string]bool{}
	for _, c := range load(t) {
		if len(c.Rules) == 1 && len(c.Set) == 1 && len(c.Origin.Rules) == 0 {
			parted[c.Rules[0]] = true
		}
	}
	for _, rule := range admission.Rules() {
		if !parted[rule] {
			t.Errorf("rule %s alone refuses no manifest that differs in one field from an accepted one", rule)
		}
		delete(parted, rule)
	}
	for rule := range parted {
		t.Errorf("rule %s is not among the rules", rule)
	}
}

func load(t *testing.T) []*admissiontest.Case {
	t.Helper()
	cases, err := admissiontest.Load(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// admit does what the API server and the webhook do with a manifest.
func admit(t *testing.T, c *admissiontest.Case) (field.ErrorList, []string) {
	t.Helper()
	known := beside(t, c)
	switch c.Manifest.Kind() {
	case v1alpha1.FederatedHPAKind:
		return admitAs(t, c, admission.MutateFederatedHPA, known, admission.ValidateFederatedHPA)
	case v1alpha1.MultidimPodAutoscalerKind:
		return admitAs(t, c, admission.MutateMultidimPodAutoscaler, known, admission.ValidateMultidimPodAutoscaler)
	}
	return admitAs(t, c, admission.MutateCronFederatedHPA, known, admission.ValidateCronFederatedHPA)
}

func admitAs[T any](t *testing.T, c *admissiontest.Case, mutate func(*T) []string, known admission.Neighbours,
	validate func(_, _ *T, _ admission.Neighbours) (field.ErrorList, []string)) (field.ErrorList, []string) {
	t.Helper()
	object := decode[T](t, c.Manifest)
	var stored *T
	if c.Stored != nil {
		stored = decode[T](t, c.Stored)
		mutate(stored)
	}
	warnings := mutate(object)
	faults, more := validate(object, stored, known)
	return faults, append(warnings, more...)
}

func beside(t *testing.T, c *admissiontest.Case) admission.Neighbours {
	t.Helper()
	var known admission.Neighbours
	if c.Served != nil {
		known.Target = &admission.Served{Versions: *c.Served}
	}
	for _, m := range c.Beside {
		switch m.Kind() {
		case v1alpha1.FederatedHPAKind:
			f := decode[v1alpha1.FederatedHPA](t, m)
			admission.MutateFederatedHPA(f)
			known.FederatedHPAs = append(known.FederatedHPAs, f)
		case v1alpha1.CronFederatedHPAKind:
			known.CronFederatedHPAs = append(known.CronFederatedHPAs, decode[v1alpha1.CronFederatedHPA](t, m))
		case v1alpha1.MultidimPodAutoscalerKind:
			known.MultidimPodAutoscalers = append(known.MultidimPodAutoscalers, decode[v1alpha1.MultidimPodAutoscaler](t, m))
		case "HorizontalPodAutoscaler":
			known.HPAs = append(known.HPAs, decode[autoscalingv2.HorizontalPodAutoscaler](t, m))
		default:
			t.Fatalf("%s: %q: nothing checks a %s beside", c.File, c.Name, m.Kind())
		}
	}
	return known
}

func decode[T any](t *testing.T, m admissiontest.Manifest) *T {
	t.Helper()
	object := new(T)
	if err := m.Decode(object); err != nil {
		t.Fatal(err)
	}
	return object
}
