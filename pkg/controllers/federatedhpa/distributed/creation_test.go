// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

func TestUncreated(t *testing.T) {
	const missing = `the cluster has no Rollout "web", and `
	refused := func(account string) string {
		return missing + `its registration does not allow workloads to be created that run as ServiceAccount "` + account +
			`": create it there, or annotate its registration with fleetscale.io/create-workloads-with: ` + account
	}
	pods := func(spec map[string]any) map[string]any {
		return map[string]any{"template": map[string]any{"spec": spec}}
	}
	allowed := registration.Creation{Namespaces: []string{"shop"}, ServiceAccounts: []string{"web"}}
	tests := map[string]struct {
		spec      any
		byProgram bool
		byCluster registration.Creation
		want      string
	}{
		"all allow it": {pods(map[string]any{}), true, allowed, ""},
		"the program does not": {pods(map[string]any{}), false, allowed,
			missing + "no workloads are created in clusters: create it there, or run " +
				"the controller-manager with --create-workloads and annotate its registration with fleetscale.io/create-workloads-in: shop"},
		"the cluster does not": {pods(map[string]any{}), true, registration.Creation{Namespaces: []string{"blog"}}, missing +
			`its registration does not allow workloads to be created in namespace "shop": create it there, or annotate its registration with ` +
			"fleetscale.io/create-workloads-in: shop"},
		"the default account": {pods(map[string]any{"serviceAccountName": "default"}), true, allowed, ""},
		"no account":          {pods(map[string]any{"serviceAccountName": ""}), true, allowed, ""},
		"one that is allowed": {pods(map[string]any{"serviceAccountName": "web"}), true, allowed, ""},
		"one that is not":     {pods(map[string]any{"serviceAccountName": "admin"}), true, allowed, refused("admin")},
		"by its former name":  {pods(map[string]any{"serviceAccountName": "web", "serviceAccount": "admin"}), true, allowed, refused("admin")},
		"in another place": {map[string]any{"parts": []any{map[string]any{}, map[string]any{"podTemplate": map[string]any{
			"serviceAccountName": "admin"}}}}, true, allowed, refused("admin")},
		"the first of several": {map[string]any{"a": pods(map[string]any{"serviceAccountName": "web"}), "b": pods(map[string]any{
			"serviceAccountName": "zoe"}), "c": pods(map[string]any{"serviceAccountName": "yves"})}, true, allowed, refused("yves")},
		"what only sounds so": {pods(map[string]any{"serviceAccountName": map[string]any{"of": "admin"}, "volumes": []any{map[string]any{
			"projected": map[string]any{"sources": []any{map[string]any{"serviceAccountToken": map[string]any{"path": "t"}}}}}}}), true, allowed,
			""},
		"no spec": {nil, true, allowed, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			template := &unstructured.Unstructured{Object: map[string]any{
				"kind": "Rollout", "metadata": map[string]any{"namespace": "shop", "name": "web"}, "spec": tc.spec,
			}}
			same(t, "uncreated", tc.want, uncreated(template, tc.byProgram, tc.byCluster))
		})
	}
}
