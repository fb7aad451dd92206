// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
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
	for _, group := range Groups() {
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
			own := documents(t, "base/hub/members.yaml")[:1]
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

// The adapter may read all APIServices that it may have to watch, and at no others.
func TestManifestsGrantWhatTheGuardGets(t *testing.T) {
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(documents(t, "base/hub/hub.yaml")[0], &role); err != nil {
		t.Fatal(err)
	}
	var watched []string
	for _, v := range slices.Concat(known(), own()) {
		watched = append(watched, v.apiService())
	}
	want := rbacv1.PolicyRule{
		APIGroups: []string{"apiregistration.k8s.io"}, Resources: []string{"apiservices"}, ResourceNames: watched, Verbs: []string{"get"},
	}
	fleettest.Same(t, "last rule of ClusterRole "+role.Name, want, role.Rules[len(role.Rules)-1])
}
