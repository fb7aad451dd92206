// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// withDashboard is an overlay as people write it.
const withDashboard = "../test/deploy/testdata/dashboard"

// The dashboard runs as the other programs do, has no token, and is granted nothing; no overlay has it by itself.
func TestDashboardHasNoRights(t *testing.T) {
	found := false
	for _, d := range deployments(t, withDashboard) {
		if d.Name != "dashboard" {
			continue
		}
		found = true
		checkRestricted(t, d)
		checkProbes(t, d)
		checkMemory(t, d, "")
		checkReach(t, withDashboard, d)
		pod := d.Spec.Template.Spec
		if pod.ServiceAccountName != "dashboard" || pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("its token is mounted, or one of %q", pod.ServiceAccountName)
		}
		for _, v := range pod.Volumes {
			if v.Projected == nil {
				continue
			}
			for _, source := range v.Projected.Sources {
				if source.ConfigMap == nil {
					t.Errorf("a source of the volume %s is no ConfigMap", v.Name)
				}
			}
		}
	}
	if !found {
		t.Error("there is no dashboard")
	}
	for _, object := range build(t, withDashboard) {
		var subjects []rbacv1.Subject
		switch o := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			subjects = o.Subjects
		case *rbacv1.RoleBinding:
			subjects = o.Subjects
		case *corev1.ConfigMap:
			checkDashboardHub(t, o)
		}
		for _, s := range subjects {
			if s.Name == "dashboard" || s.Kind == rbacv1.GroupKind && strings.HasPrefix(s.Name, "system:serviceaccounts") {
				t.Errorf("%s %s is granted something", s.Kind, s.Name)
			}
		}
	}
	for dir, names := range programs() {
		if strings.Contains(fmt.Sprint(names), "dashboard") {
			t.Errorf("%s has a dashboard", dir)
		}
	}
}

// checkDashboardHub holds that a kubeconfig leads to the hub over verified TLS, without a credential.
func checkDashboardHub(t *testing.T, held *corev1.ConfigMap) {
	t.Helper()
	text, has := held.Data["kubeconfig"]
	if held.Name != "dashboard-hub" || !has {
		return
	}
	config, err := clientcmd.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	hub := config.Clusters["hub"]
	if len(config.AuthInfos) != 0 || hub == nil || !strings.HasPrefix(hub.Server, "https://") ||
		filepath.Base(hub.CertificateAuthority) != "ca.crt" {
		t.Errorf("the kubeconfig is %s", text)
	}
}
