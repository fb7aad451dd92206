// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
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
		"not there":           {answer{404, memberstest.Status(404, "NotFound", "")}, nil, 0, false, true},
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
			s.Says("GET "+deployments+"/web", tc.there.code, tc.there.body)
			s.Says("GET /api/v1/nodes", 200,
				`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"n"},
				"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}]}`)
			s.Says("GET /api/v1/pods", 200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
			s.Says("GET /api/v1/namespaces/shop/resourcequotas", 200,
				`{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
			for _, watched := range []string{"nodes", "pods", "namespaces/shop/resourcequotas"} {
				s.Says("GET /api/v1/"+watched+" watch", 200, "")
			}
			n, known := s.join(t).Additional(t.Context(), "shop", web, tc.template)
			fleettest.Same(t, "room", tc.want, n)
			fleettest.Same(t, "whether it is known", tc.known, known)
			fleettest.Same(t, "whether the workload was read", tc.reads, strings.Contains(strings.Join(s.Heard(), "\n"), "/deployments/web"))
		})
	}
}

// Room is counted for the Pods that a cluster really makes.
func TestAdditionalOfSizedPods(t *testing.T) {
	t.Parallel()
	const podSizes = "/apis/fleetscale.io/v1alpha1/namespaces/shop/podsizes"
	s := newServer(t, "v2")
	s.Says("GET /api/v1", 200, `{"kind":"APIResourceList","apiVersion":"v1","resources":[{"name":"pods/resize"}]}`)
	s.Says("GET /apis/fleetscale.io/v1alpha1", 200, `{"kind":"APIResourceList","apiVersion":"v1","resources":[{"name":"podsizes"}]}`)
	for resource, kind := range map[string]string{"policies": "Policy", "policybindings": "PolicyBinding"} {
		s.Says("GET /apis/admissionregistration.k8s.io/v1/mutatingadmission"+resource+"/sizes.fleetscale.io", 200,
			`{"kind":"MutatingAdmission`+kind+`","metadata":{"uid":"u"}}`)
	}
	s.Says("GET "+deployments+"/web", 200, needing("1"))
	s.Says("GET /api/v1/nodes", 200,
		`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"n"},
		"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}]}`)
	s.Says("GET /api/v1/pods", 200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
	s.Says("GET /api/v1/namespaces/shop/resourcequotas", 200,
		`{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
	s.Says("GET "+podSizes, 200, `{"kind":"PodSizesList","apiVersion":"fleetscale.io/v1alpha1","metadata":{"resourceVersion":"5"},"items":[
		{"metadata":{"namespace":"shop","name":"fleetscale"},"workloads":[
			{"name":"other","matchLabels":{"app":"api"},"containers":[{"name":"a","requests":{"cpu":"3"}}]},
			{"name":"web","matchLabels":{"app":"web"},"containers":[{"name":"a","requests":{"cpu":"2"}}]}]}]}`)
	for _, watched := range []string{"/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/shop/resourcequotas", podSizes} {
		s.Says("GET "+watched+" watch", 200, "")
	}
	c := s.join(t)
	n, known := c.Additional(t.Context(), "shop", web, nil)
	fleettest.Same(t, "room while nobody sizes Pods", []any{int32(4), true}, []any{n, known})
	c.Sizer().Support(t.Context())
	n, known = c.Additional(t.Context(), "shop", web, nil)
	fleettest.Same(t, "room for Pods of their size", []any{int32(2), true}, []any{n, known})
}
