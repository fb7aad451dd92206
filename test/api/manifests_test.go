// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// documents returns the objects of a YAML file, with numbers as an API server decodes them.
func documents(t testing.TB, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: document %d: %v", file, len(objects)+1, err)
		}
		objects = append(objects, object)
	}
}

// manifests returns every manifest that must be accepted: Karmada's, the proposals', the documentation's, and what our
// controllers may make of them.
func manifests(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	var all []*unstructured.Unstructured
	for _, file := range append(files, "testdata/karmada.yaml", "testdata/proposals.yaml", "testdata/status.yaml") {
		all = append(all, documents(t, file)...)
	}
	return all
}

func TestManifestsAreAcceptedWhole(t *testing.T) {
	all := servers(t)
	for _, manifest := range manifests(t) {
		t.Run(manifest.GetKind()+" "+manifest.GetName(), func(t *testing.T) {
			stored, errs := all[manifest.GetKind()].create(t.Context(), manifest.Object)
			if len(errs) > 0 {
				t.Errorf("refused: %v", errs.ToAggregate())
			}
			if lost := lacks(stored, manifest.Object, ""); len(lost) > 0 {
				t.Errorf("lost: %v", lost)
			}
		})
	}
}

// What is defaulted, read and written by our types is still accepted, and says the same.
func TestManifestsSurviveOurTypes(t *testing.T) {
	all := servers(t)
	for _, manifest := range manifests(t) {
		t.Run(manifest.GetKind()+" "+manifest.GetName(), func(t *testing.T) {
			stored, _ := all[manifest.GetKind()].create(t.Context(), manifest.Object)
			written := throughTypes(t, stored)
			if lost := lacks(written, stored, ""); len(lost) > 0 {
				t.Errorf("lost: %v", lost)
			}
			if _, errs := all[manifest.GetKind()].create(t.Context(), written); len(errs) > 0 {
				t.Errorf("refused with our defaults: %v\n%v", errs.ToAggregate(), written)
			}
		})
	}
}

// throughTypes reads an object into our type, fills in the defaults, and writes it.
func throughTypes(t testing.TB, object map[string]any) map[string]any {
	t.Helper()
	var typed any
	switch object["kind"] {
	case v1alpha1.FederatedHPAKind:
		fhpa := &v1alpha1.FederatedHPA{}
		convert(t, object, fhpa)
		v1alpha1.DefaultFederatedHPA(fhpa)
		typed = fhpa
	case v1alpha1.CronFederatedHPAKind:
		cron := &v1alpha1.CronFederatedHPA{}
		convert(t, object, cron)
		v1alpha1.DefaultCronFederatedHPA(cron)
		typed = cron
	case v1alpha1.MultidimPodAutoscalerKind:
		mpa := &v1alpha1.MultidimPodAutoscaler{}
		convert(t, object, mpa)
		v1alpha1.DefaultMultidimPodAutoscaler(mpa)
		typed = mpa
	default:
		history := &v1alpha1.MultidimPodAutoscalerHistory{}
		convert(t, object, history)
		typed = history
	}
	written := &unstructured.Unstructured{}
	convert(t, typed, written)
	return written.Object
}

// convert goes by way of JSON, as a client and a server do, and refuses fields that the type does not have.
func convert(t testing.TB, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		t.Fatal(err)
	}
}

// lacks returns the paths at which got does not say what want says; got may say more. A null says nothing.
func lacks(got, want any, path string) []string {
	switch want := want.(type) {
	case nil:
		return nil
	case map[string]any:
		fields, _ := got.(map[string]any)
		var lost []string
		for name, value := range want {
			lost = append(lost, lacks(fields[name], value, path+"."+name)...)
		}
		return lost
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			return []string{path}
		}
		var lost []string
		for i := range want {
			lost = append(lost, lacks(items[i], want[i], path+"[]")...)
		}
		return lost
	default:
		if !cmp.Equal(got, want) && !sameQuantity(got, want) {
			return []string{path}
		}
		return nil
	}
}

// sameQuantity reports whether a quantity was only written in another way: 10 becomes "10".
func sameQuantity(got, want any) bool {
	text, written := got.(string)
	number, wanted := want.(int64)
	return written && wanted && text == strconv.FormatInt(number, 10)
}
