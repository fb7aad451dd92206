// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

const deploy = "../../../deploy"

// documents reads the objects of a manifest.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, file))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(text, []byte("\n---\n"))
}

// A hub gets the same APIServices by `kubectl apply` as by a takeover.
func TestManifestsSayWhatTakeoverDoes(t *testing.T) {
	component := map[string]string{
		"metrics.k8s.io":          "apiservice",
		"custom.metrics.k8s.io":   "apiservice-custom",
		"external.metrics.k8s.io": "apiservice-external",
	}
	for _, group := range apiservice.Groups() {
		t.Run(group, func(t *testing.T) {
			o, client := ourOptions(), fake.NewClientset()
			o.APIs = []string{group}
			takenOver := map[string]apiregistrationv1.APIService{}
			for _, step := range takeOverAll(t, client, o) {
				api := get(t, client, step.APIService)
				api.Annotations = nil // the record of the takeover
				takenOver[api.Name] = *api
			}
			applied := map[string]apiregistrationv1.APIService{}
			own := slices.Concat(documents(t, "base/hub/members.yaml")[:1], documents(t, "base/hub/history.yaml")[:1])
			for _, document := range slices.Concat(documents(t, "components/"+component[group]+"/apiservice.yaml"), own) {
				var api apiregistrationv1.APIService
				if err := yaml.UnmarshalStrict(document, &api); err != nil {
					t.Fatal(err)
				}
				api.TypeMeta = takenOver[api.Name].TypeMeta
				applied[api.Name] = api
			}
			if diff := cmp.Diff(takenOver, applied); diff != "" {
				t.Errorf("APIServices (-takeover +manifest):\n%s", diff)
			}
		})
	}
}
