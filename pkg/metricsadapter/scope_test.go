// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What is not in the namespaces in scope is refused, with the flag to blame, and no member is asked. All namespaces are those in scope.
func TestNamespacesThatAreNotInScope(t *testing.T) {
	h, _, w, n := newWitnessedHub(t, "shop", "pay")
	const usage, custom = "/apis/metrics.k8s.io/v1beta1/", "/apis/custom.metrics.k8s.io/v1beta2/"
	const external = "/apis/external.metrics.k8s.io/v1beta1/"
	const other = `fleetscale acts in namespaces pay, shop only, and not in namespace "other": whoever runs it adds that to --namespaces`
	const nowhere = "fleetscale acts in namespaces pay, shop only (--namespaces), and nodes have no namespace"
	tests := map[string]struct {
		path    string
		refused string   // or
		members []string // namespaces in which members are asked
	}{
		"pods":                              {usage + "namespaces/shop/pods", "", []string{"shop"}},
		"a pod":                             {usage + "namespaces/shop/pods/web-0", "", []string{"shop"}},
		"all pods":                          {usage + "pods", "", []string{"pay", "shop"}},
		"pods of another":                   {usage + "namespaces/other/pods", other, nil},
		"a pod of another":                  {usage + "namespaces/other/pods/web-0", other, nil},
		"nodes":                             {usage + "nodes", nowhere, nil},
		"a node":                            {usage + "nodes/web-0", nowhere, nil},
		"a custom metric":                   {custom + "namespaces/shop/deployments.apps/web-0/rps", "", []string{"shop"}},
		"one of another":                    {custom + "namespaces/other/deployments.apps/web-0/rps", other, nil},
		"of all objects of another":         {custom + "namespaces/other/pods/*/rps", other, nil},
		"of a namespace itself":             {custom + "namespaces/shop/metrics/rps", "", []string{"shop"}},
		"of another namespace itself":       {custom + "namespaces/other/metrics/rps", other, nil},
		"of all namespaces":                 {custom + "namespaces/*/metrics/rps", "--namespaces", nil},
		"of a node":                         {custom + "nodes/web-0/rps", nowhere, nil},
		"an external metric":                {external + "namespaces/shop/depth", "", []string{"shop"}},
		"an external metric asked in other": {external + "namespaces/other/depth", other, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w.take(t)
			n.asked = nil
			r := h.ask(tc.path)
			if tc.refused == "" && r.Code != http.StatusOK ||
				tc.refused != "" && (r.Code != http.StatusForbidden || !strings.Contains(strings.ReplaceAll(r.Body.String(), `\"`, `"`), tc.refused)) {
				t.Errorf("%d: %s; want %s", r.Code, r.Body, tc.refused)
			}
			if len(n.asked) != 1 {
				t.Errorf("RBAC was asked %v", n.asked)
			}
			var asked []string
			for _, one := range w.take(t) {
				asked = append(asked, one.Namespace)
			}
			slices.Sort(asked)
			inMemory := strings.HasPrefix(tc.path, usage+"namespaces/") && len(asked) == 0 // since another case
			if !slices.Equal(slices.Compact(asked), tc.members) && !inMemory {
				t.Errorf("the member was asked in %v, want %v", asked, tc.members)
			}
		})
	}
}
