// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"
)

// apiServices builds those of a folder.
func apiServices(t *testing.T, folder string) []apiregistrationv1.APIService {
	t.Helper()
	var all []apiregistrationv1.APIService
	for _, r := range render(t, folder) {
		if r.GetKind() != "APIService" {
			continue
		}
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var api apiregistrationv1.APIService
		if err := yaml.UnmarshalStrict(text, &api); err != nil {
			t.Fatal(err)
		}
		all = append(all, api)
	}
	return all
}

func names(all []apiregistrationv1.APIService) []string {
	var names []string
	for _, api := range all {
		names = append(names, api.Name)
	}
	return names
}

// Where somebody else may have an API, none is applied: a takeover keeps what
// stood there, and to apply does not.
func TestAPIServicesOfOverlays(t *testing.T) {
	all := []string{
		"v1beta1.metrics.k8s.io", "v1.metrics.k8s.io",
		"v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io",
		"v1beta1.external.metrics.k8s.io",
	}
	want := map[string][]string{
		"overlays/karmada/control-plane":   all,
		"overlays/standalone":              all,
		"overlays/standalone-cert-manager": all,
	}
	for _, dir := range overlays() {
		t.Run(dir, func(t *testing.T) {
			if diff := gocmp.Diff(want[dir], names(apiServices(t, filepath.Join(root, dir)))); diff != "" {
				t.Errorf("APIServices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCertManagerHasEveryAPIServiceVerified(t *testing.T) {
	for _, api := range apiServices(t, filepath.Join(root, "overlays/standalone-cert-manager")) {
		if got := api.Annotations["cert-manager.io/inject-ca-from"]; got != "fleetscale-system/metrics-adapter" {
			t.Errorf("%s gets the authority of %q", api.Name, got)
		}
		if api.Spec.InsecureSkipTLSVerify {
			t.Errorf("%s is not verified", api.Name)
		}
	}
}
