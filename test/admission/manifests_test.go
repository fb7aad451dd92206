// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var update = flag.Bool("update", false, "write testdata/schema.yaml")

// golden is what the schema of deploy/crds refuses before the webhook that
// judges is asked: its words by file and case.
const golden = "testdata/schema.yaml"

// Every manifest is answered by the hub as by package admission, or refused by
// the schema first.
func TestManifests(t *testing.T) {
	e, cases := hub(t), load(t)
	on := stage{client: e.client(t), namespaces: map[*admissiontest.Case]string{}}
	on.setAll(t, e, cases)
	e.asked(t, 1)
	bySchema := map[string]map[string][]string{}
	for _, c := range cases {
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			s, err := on.play(t, c)
			if s.by == "" && len(s.causes) > 0 {
				if bySchema[c.File] == nil {
					bySchema[c.File] = map[string][]string{}
				}
				bySchema[c.File][c.Name] = s.causes
				// Of a change the schema judges all that lies beside it too, old faults included.
				if len(c.Errors) == 0 && c.Stored == nil {
					t.Errorf("refused by the schema alone: %v", err)
				}
				return
			}
			compare(t, c, s, err)
		})
	}
	compareGolden(t, bySchema)
}

func load(t *testing.T) []*admissiontest.Case {
	t.Helper()
	cases, err := admissiontest.Load(os.DirFS("../../pkg/admission/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

var inAnyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// compare holds an answer of the hub to what package admission says.
func compare(t *testing.T, c *admissiontest.Case, s said, err error) {
	t.Helper()
	if want := len(c.Errors) > 0; (err != nil) != want || want && s.by != webhookOf(c.Manifest.Kind()) {
		t.Errorf("refused by %q: %v", s.by, err)
	}
	fleettest.Same(t, "faults", c.Errors, s.causes, cmpopts.EquateEmpty(), inAnyOrder)
	fleettest.Same(t, "warnings", c.Warnings, ours(c, s.warnings), cmpopts.EquateEmpty())
	if s.object == nil {
		return
	}
	if c.Stored != nil && cmp.Equal(specOf(t, c.Stored), specOf(t, c.Manifest)) {
		return // the webhook is not asked, and so nothing is completed
	}
	want, got := completed(t, c.Manifest), completed(t, s.object.Object)
	fleettest.Same(t, "spec", want, specOf(t, s.object.Object))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completing it again changes it (-once +twice):\n%s", diff)
	}
}

// ours are the warnings without the API server's own, about what its schema
// finds wrong in an object that was stored already.
func ours(c *admissiontest.Case, warnings []string) (all []string) {
	for _, w := range warnings {
		if c.Stored == nil || !strings.Contains(w, ": Invalid value: ") && !strings.Contains(w, ": Required value: ") {
			all = append(all, w)
		}
	}
	return all
}

func compareGolden(t *testing.T, got map[string]map[string][]string) {
	t.Helper()
	if *update {
		text, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append([]byte("# SPDX-License-Identifier: Apache-2.0\n"), text...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string][]string
	if err := yaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, inAnyOrder); diff != "" {
		t.Errorf("what the schema refuses (-%s +got); `go -C test test ./admission -run TestManifests -update` writes it down:\n%s", golden, diff)
	}
}

// completed is an object's spec, with what package admission adds.
func completed(t *testing.T, m admissiontest.Manifest) any {
	t.Helper()
	return spec(t, m, true)
}

func specOf(t *testing.T, m admissiontest.Manifest) any {
	t.Helper()
	return spec(t, m, false)
}

func spec(t *testing.T, m admissiontest.Manifest, complete bool) any {
	t.Helper()
	switch m.Kind() {
	case v1alpha1.FederatedHPAKind:
		object := &v1alpha1.FederatedHPA{}
		decode(t, m, object)
		if complete {
			admission.MutateFederatedHPA(object)
		}
		return object.Spec
	case v1alpha1.MultidimPodAutoscalerKind:
		object := &v1alpha1.MultidimPodAutoscaler{}
		decode(t, m, object)
		if complete {
			admission.MutateMultidimPodAutoscaler(object)
		}
		return object.Spec
	}
	object := &v1alpha1.CronFederatedHPA{}
	decode(t, m, object)
	if complete {
		admission.MutateCronFederatedHPA(object)
	}
	return object.Spec
}

func decode(t *testing.T, m admissiontest.Manifest, into any) {
	t.Helper()
	if err := m.Decode(into); err != nil {
		t.Fatal(err)
	}
}
