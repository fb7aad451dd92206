// SPDX-License-Identifier: Apache-2.0

package apiguard

import (
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

const (
	beta       = "v1beta1.metrics.k8s.io"
	stable     = "v1.metrics.k8s.io"
	membersAPI = "v1alpha1.members.fleetscale.io"
	historyAPI = "v1alpha1.history.fleetscale.io"
)

func resourceOnly() []string { return []string{"metrics.k8s.io"} }

func ourService() types.NamespacedName {
	return types.NamespacedName{Namespace: "fleetscale-system", Name: "metrics-adapter"}
}

// pointing is an APIService that points at a Service.
func pointing(name string, at types.NamespacedName) *apiregistrationv1.APIService {
	version, group, _ := strings.Cut(name, ".")
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: group, Version: version,
			Service: &apiregistrationv1.ServiceReference{Namespace: at.Namespace, Name: at.Name, Port: new(int32(443))},
		},
	}
}

// metricsServers is the hub of somebody who has metrics-server only.
func metricsServers() *fake.Clientset {
	return hubWith(pointing(beta, types.NamespacedName{Namespace: "kube-system", Name: "metrics-server"}))
}

func held() *fake.Clientset {
	return hubWith(pointing(beta, ourService()), pointing(stable, ourService()))
}

// hubWith is a hub with our own APIServices, as deploy/base has them, and others.
func hubWith(others ...runtime.Object) *fake.Clientset {
	return fake.NewClientset(append(others, pointing(membersAPI, ourService()), pointing(historyAPI, ourService()))...)
}

// pointAt rewrites an APIService, as `kubectl apply` of somebody's manifest does.
func pointAt(t *testing.T, client *fake.Clientset, at types.NamespacedName) {
	t.Helper()
	if _, err := client.ApiregistrationV1().APIServices().Update(t.Context(), pointing(beta, at), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// The adapter may read all APIServices that it may have to watch, and at no others.
func TestManifestsGrantWhatTheGuardGets(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/base/hub/hub.yaml")
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(text), "\n---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
		t.Fatal(err)
	}
	want := rbacv1.PolicyRule{
		APIGroups: []string{"apiregistration.k8s.io"}, Resources: []string{"apiservices"},
		ResourceNames: apiservice.Names(apiservice.Groups()), Verbs: []string{"get"},
	}
	fleettest.Same(t, "last rule of ClusterRole "+role.Name, want, role.Rules[len(role.Rules)-1])
}
