// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// needing is the workload web, whose Pods need so much of a node.
func needing(cpu string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"` + cpu + `"}}}]}}}}`
}

func TestAdditional(t *testing.T) {
	template := &unstructured.Unstructured{}
	if err := template.UnmarshalJSON([]byte(needing("2"))); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		there    answer
		template *unstructured.Unstructured
		want     int32
		known    bool
		reads    bool // the workload
	}{
		"as it is there":      {answer{200, needing("1")}, nil, 4, true, true},
		"as it would be made": {answer{200, needing("1")}, template, 2, true, false},
		"not there":           {answer{404, status(404, "NotFound", "")}, nil, 0, false, true},
		"without a template":  {answer{200, `{"spec":{}}`}, nil, 0, false, true},
		"it takes forever":    {answer{200, needing("1e-2147483648")}, nil, 0, false, true},
		"not even JSON":       {answer{200, `<html>`}, nil, 0, false, true},
		"a selector that cannot be": {answer{200,
			strings.Replace(needing("1"), `"matchLabels"`, `"matchExpressions":[{"key":"a","operator":"Is"}],"matchLabels"`, 1)},
			nil, 0, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.says("GET "+deployments+"/web", tc.there.code, tc.there.body)
			s.says("GET /api/v1/nodes", 200,
				`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"n"},
				"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}]}`)
			s.says("GET /api/v1/pods", 200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
			s.says("GET /api/v1/namespaces/shop/resourcequotas", 200,
				`{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
			for _, watched := range []string{"nodes", "pods", "namespaces/shop/resourcequotas"} {
				s.says("GET /api/v1/"+watched+" watch", 200, "")
			}
			n, known := s.join(t).Additional(t.Context(), "shop", web, tc.template)
			same(t, "room", tc.want, n)
			same(t, "whether it is known", tc.known, known)
			same(t, "whether the workload was read", tc.reads, strings.Contains(strings.Join(s.heard(), "\n"), "/deployments/web"))
		})
	}
}
