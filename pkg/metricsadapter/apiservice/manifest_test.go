// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	"sigs.k8s.io/yaml"
)

// A hub gets the same APIServices by `kubectl apply` as by a takeover.
func TestManifestsSayWhatTakeoverDoes(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/components/apiservice/apiservice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	applied := map[string]*apiregistrationv1.APIService{}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		api := &apiregistrationv1.APIService{}
		if err := yaml.UnmarshalStrict(document, api); err != nil {
			t.Fatal(err)
		}
		applied[api.Name] = api
	}
	client := fake.NewClientset()
	for _, step := range takeOverAll(t, client, ourOptions()) {
		want := get(t, client, step.APIService)
		got := applied[step.APIService]
		if got == nil {
			t.Errorf("no manifest makes %s", step.APIService)
			continue
		}
		if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
			t.Errorf("spec of %s (-takeover +manifest):\n%s", step.APIService, diff)
		}
		if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
			t.Errorf("labels of %s (-takeover +manifest):\n%s", step.APIService, diff)
		}
		delete(applied, step.APIService)
	}
	for name := range applied {
		t.Errorf("the manifests make %s, and a takeover does not", name)
	}
}
