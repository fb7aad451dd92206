// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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

// These are the APIServices that nobody else can have.
const ofMembers, ofHistory = "v1alpha1.members.fleetscale.io", "v1alpha1.history.fleetscale.io"

// Where somebody else may have an API, none is applied: a takeover keeps what
// stood there, and to apply does not. The fleet's own is wherever the adapter is.
func TestAPIServicesOfOverlays(t *testing.T) {
	all := []string{
		ofMembers, ofHistory, "v1beta1.metrics.k8s.io", "v1.metrics.k8s.io",
		"v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io",
		"v1beta1.external.metrics.k8s.io",
	}
	want := map[string][]string{
		"overlays/beside-metrics-server":          {ofMembers, ofHistory},
		"overlays/karmada/beside-metrics-adapter": {ofMembers, ofHistory},
		"overlays/karmada/control-plane":          all,
		"overlays/standalone":                     all,
		"overlays/standalone-cert-manager":        all,
	}
	for _, dir := range overlays() {
		t.Run(dir, func(t *testing.T) {
			if diff := gocmp.Diff(want[dir], names(apiServices(t, filepath.Join(root, dir)))); diff != "" {
				t.Errorf("APIServices (-want +got):\n%s", diff)
			}
		})
	}
}

// The hub verifies the adapter by an authority that comes from cert-manager, or from the adapter itself.
func TestEveryAPIServiceIsVerified(t *testing.T) {
	for _, dir := range overlays() {
		for _, api := range apiServices(t, filepath.Join(root, dir)) {
			if api.Spec.InsecureSkipTLSVerify {
				t.Errorf("%s: %s is not verified", dir, api.Name)
			}
			injected := api.Annotations["cert-manager.io/inject-ca-from"] == "fleetscale-system/metrics-adapter"
			itself := slices.ContainsFunc(roles(t, dir), func(r role) bool {
				return slices.ContainsFunc(r.rules, func(rule rbacv1.PolicyRule) bool {
					return slices.Contains(rule.ResourceNames, api.Name) && slices.Equal(rule.Resources, []string{"apiservices"}) &&
						slices.Contains(rule.Verbs, "update")
				})
			})
			if injected == itself {
				t.Errorf("%s: %s gets its authority from cert-manager: %v, and from the adapter: %v; want one of them", dir, api.Name, injected, itself)
			}
		}
	}
}

// No manifest has anything go unverified, under whatever name the option has.
func TestNothingIsUnverified(t *testing.T) {
	unverified := regexp.MustCompile(`(?i)skip-?tls|insecure`)
	for _, folder := range []string{root, "../../certs"} {
		err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(file)
			if found := unverified.Find(text); found != nil {
				t.Errorf("%s says %s", file, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What the hub's metrics-server is sent is a token that opens nothing else.
func TestHubsMetricsServerGetsATokenOfItsOwn(t *testing.T) {
	const dir = "overlays/beside-metrics-server"
	var account string
	granted := map[string][]rbacv1.PolicyRule{}
	for _, object := range build(t, dir) {
		switch o := object.(type) {
		case *corev1.Secret:
			if o.Name == "hub-metrics-reader" && o.Type == corev1.SecretTypeServiceAccountToken {
				account = o.Annotations[corev1.ServiceAccountNameKey]
			}
		case *rbacv1.ClusterRoleBinding:
			for _, s := range o.Subjects {
				for _, r := range roles(t, dir) {
					if r.name == o.RoleRef.Name {
						granted[s.Name] = append(granted[s.Name], r.rules...)
					}
				}
			}
		case *rbacv1.RoleBinding:
			for _, s := range o.Subjects {
				if s.Name == "hub-metrics-reader" {
					t.Errorf("it has a right in %s", o.Namespace)
				}
			}
		}
	}
	want := []rbacv1.PolicyRule{{APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"pods", "nodes"}, Verbs: []string{"get", "list"}}}
	if diff := gocmp.Diff(want, granted[account]); diff != "" {
		t.Errorf("rights of %q (-want +got):\n%s", account, diff)
	}
	mounted := map[string]string{} // file: from where
	for _, d := range deployments(t, dir) {
		pod := d.Spec.Template.Spec
		for _, mount := range pod.Containers[0].VolumeMounts {
			for _, v := range pod.Volumes {
				if v.Name != mount.Name || v.Projected == nil {
					continue
				}
				for _, source := range v.Projected.Sources {
					if source.Secret != nil {
						mounted[path.Join(mount.MountPath, source.Secret.Items[0].Path)] = "Secret " + source.Secret.Name
					}
					if source.ConfigMap != nil {
						mounted[path.Join(mount.MountPath, source.ConfigMap.Items[0].Path)] = "ConfigMap " + source.ConfigMap.Name
					}
				}
			}
		}
		for flag, from := range map[string]string{
			"--hub-metrics-server-token-file=": "Secret hub-metrics-reader", "--hub-metrics-server-ca-file=": "ConfigMap hub-metrics-server-ca",
		} {
			for _, arg := range pod.Containers[0].Args {
				if file, given := strings.CutPrefix(arg, flag); given {
					if mounted[file] != from {
						t.Errorf("%s names %s, which is of %q", flag, file, mounted[file])
					}
					delete(mounted, file)
				}
			}
		}
	}
	if len(mounted) > 0 || account == "" {
		t.Errorf("no flag names %v; the account is %q", mounted, account)
	}
}
