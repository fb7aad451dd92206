// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	_ "time/tzdata" // the zones of the manifests, wherever the tests run

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Every manifest is answered over HTTP as package admission answers it: through
// patches that the API server can apply, and neighbours that are looked up.
func TestManifestsThroughTheWebhooks(t *testing.T) {
	cases, err := admissiontest.Load(os.DirFS("../admission/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	inAnyOrder := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	for _, c := range cases {
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			handlers, _ := handlersOf(hubWith(t, besides(t, c.Beside)...))
			kind := strings.ToLower(c.Manifest.Kind())
			mutated := func(m admissiontest.Manifest) (text string, warnings []string) {
				if m == nil {
					return "", nil
				}
				text = asJSON(t, m)
				response := ask(t, handlers["/mutate-"+kind], review(t, text, ""))
				return patched(t, text, response.Patch), response.Warnings
			}
			object, warnings := mutated(c.Manifest)
			before, _ := mutated(c.Stored)
			fleettest.Same(t, "mutated", expected(t, c.Manifest), withoutCopy(decoded(t, []byte(object))))
			response := ask(t, handlers["/validate-"+kind], review(t, object, before))
			var errors []string
			if !response.Allowed {
				for _, cause := range response.Result.Details.Causes {
					errors = append(errors, cause.Field+": "+cause.Message)
				}
			}
			fleettest.Same(t, "errors", c.Errors, errors, cmpopts.EquateEmpty(), inAnyOrder)
			fleettest.Same(t, "warnings", c.Warnings, append(warnings, response.Warnings...), cmpopts.EquateEmpty(), inAnyOrder)
		})
	}
}

// withoutCopy is the object but for the copy of its spec, of which package speccopy has tests of its own.
func withoutCopy(object any) any {
	metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, v1alpha1.SpecAnnotation)
	if annotations != nil && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return object
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func patched(t *testing.T, text string, patch []byte) string {
	t.Helper()
	if patch == nil {
		return text
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.Apply([]byte(text))
	if err != nil {
		t.Fatalf("the API server cannot apply %s: %v", patch, err)
	}
	return string(after)
}

// expected is the manifest as package admission mutates it. What only encoding
// adds is taken from the manifest again.
func expected(t *testing.T, m admissiontest.Manifest) any {
	t.Helper()
	var before, after string
	switch m.Kind() {
	case v1alpha1.FederatedHPAKind:
		before, after = beforeAndAfter(t, m, admission.MutateFederatedHPA)
	case v1alpha1.MultidimPodAutoscalerKind:
		before, after = beforeAndAfter(t, m, admission.MutateMultidimPodAutoscaler)
	default:
		before, after = beforeAndAfter(t, m, admission.MutateCronFederatedHPA)
	}
	fractions, err := withFractions([]byte(before), decoded(t, []byte(asJSON(t, m))))
	if err != nil {
		t.Fatal(err)
	}
	change, err := jsonpatch.CreateMergePatch(fractions, []byte(after))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := jsonpatch.MergePatch([]byte(asJSON(t, m)), change)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, merged)
}

func beforeAndAfter[T any](t *testing.T, m admissiontest.Manifest, mutate func(*T) []string) (before, after string) {
	t.Helper()
	o := object[T](t, asJSON(t, m))
	before = asJSON(t, o)
	mutate(o)
	return before, asJSON(t, o)
}

// besides returns what the hub has, in the namespace that is asked about.
func besides(t *testing.T, manifests []admissiontest.Manifest) []client.Object {
	t.Helper()
	var all []client.Object
	for _, m := range manifests {
		o := map[string]client.Object{
			v1alpha1.FederatedHPAKind: &v1alpha1.FederatedHPA{}, v1alpha1.CronFederatedHPAKind: &v1alpha1.CronFederatedHPA{},
			v1alpha1.MultidimPodAutoscalerKind: &v1alpha1.MultidimPodAutoscaler{},
			"HorizontalPodAutoscaler":          &autoscalingv2.HorizontalPodAutoscaler{},
		}[m.Kind()]
		if err := m.Decode(o); err != nil {
			t.Fatal(err)
		}
		if f, ok := o.(*v1alpha1.FederatedHPA); ok {
			admission.MutateFederatedHPA(f)
		}
		o.SetNamespace("shop")
		if o.GetDeletionTimestamp() != nil {
			o.SetFinalizers([]string{"example.com/wait"}) // the fake takes no other
		}
		all = append(all, o)
	}
	return all
}
