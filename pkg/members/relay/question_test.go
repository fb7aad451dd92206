// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func subject(t *testing.T, namespace, resource, name string) Subject {
	t.Helper()
	s, err := SubjectOf(namespace, schema.ParseGroupResource(resource), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNamespaceIsAskedForInItself: else who may read one namespace of the hub
// would read all of every member.
func TestNamespaceIsAskedForInItself(t *testing.T) {
	tests := map[string]struct{ namespace, resource, name, want string }{
		"another namespace": {"shop", "namespaces", "other",
			`namespace "other" is no object in namespace "shop": request namespaces/other/metrics/ and the metric's name`},
		"the same": {"shop", "namespaces", "shop",
			`namespace "shop" is no object in namespace "shop": request namespaces/shop/metrics/ and the metric's name`},
		"all": {"shop", "namespaces", "*",
			`namespace "*" is no object in namespace "shop": request namespaces/*/metrics/ and the metric's name`},
		"in another spelling": {"shop", "namespaces.", "other",
			`namespace "other" is no object in namespace "shop": request namespaces/other/metrics/ and the metric's name`},
		"no name":     {"shop", "pods", "", `resource "pods" with name "": request an object by both`},
		"no resource": {"shop", "", "web-0", `resource "" with name "web-0": request an object by both`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := SubjectOf(tc.namespace, schema.ParseGroupResource(tc.resource), tc.name)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%+v with error %v, want %q", s, err, tc.want)
			}
		})
	}
}

// valuePaths are the questions for values that a member was asked, readable.
func valuePaths(t *testing.T, m *fakeMember) []string {
	t.Helper()
	var paths []string
	for _, uri := range m.take() {
		if path, err := url.QueryUnescape(uri); err != nil {
			t.Fatal(err)
		} else if strings.Count(path, "/") > 3 {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestCustomPaths(t *testing.T) {
	one := func(namespace, resource, name string) CustomQuestion {
		return CustomQuestion{Subject: subject(t, namespace, resource, name), Metric: "rps"}
	}
	all := func(namespace, resource string, selector, metricSelector labels.Selector) CustomQuestion {
		q := one(namespace, resource, "*")
		q.Selector, q.MetricSelector = selector, metricSelector
		return q
	}
	byName := all("shop", "pods", selector(t, "app=web"), selector(t, "code=200"))
	byName.Subject = subject(t, "shop", "pods", "web-0")
	tests := map[string]struct {
		question CustomQuestion
		want     string
	}{
		"an object of a namespace":   {one("shop", "pods", "web-0"), "namespaces/shop/pods/web-0/rps"},
		"an object of a group":       {one("shop", "deployments.apps", "web"), "namespaces/shop/deployments.apps/web/rps"},
		"an object of no namespace":  {one("", "nodes", "n1"), "nodes/n1/rps"},
		"a namespace itself":         {one("", "namespaces", "shop"), "namespaces/shop/metrics/rps"},
		"another group's namespaces": {one("shop", "namespaces.example.com", "other"), "namespaces/shop/namespaces.example.com/other/rps"},
		"all namespaces":             {all("", "namespaces", selector(t, "a=b"), nil), "namespaces/*/metrics/rps?labelSelector=a=b"},
		"all pods":                   {one("shop", "pods", "*"), "namespaces/shop/pods/*/rps"},
		"empty selectors are left out": {all("shop", "pods", labels.Everything(), labels.NewSelector()),
			"namespaces/shop/pods/*/rps"},
		"selectors": {all("shop", "pods", selector(t, "tier in (b,a),app=web"), selector(t, "code!=500,!path")),
			"namespaces/shop/pods/*/rps?labelSelector=app=web,tier in (a,b)&metricLabelSelector=code!=500,!path"},
		"by name no labels are asked for": {byName, "namespaces/shop/pods/web-0/rps?metricLabelSelector=code=200"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				f := startFleet(t, east)
				tc.question.Clusters = everywhere
				f.Custom(t.Context(), tc.question)
				fleettest.Same(t, "asked", []string{"/apis/custom.metrics.k8s.io/v1beta2/" + tc.want}, valuePaths(t, east))
			})
		})
	}
}

func TestExternalPaths(t *testing.T) {
	tests := map[string]struct {
		question ExternalQuestion
		want     string
	}{
		"all series": {ExternalQuestion{Namespace: "shop", Metric: "queue"}, "shop/queue"},
		"some series": {ExternalQuestion{Namespace: "shop", Metric: "queue", MetricSelector: selector(t, "queue in (b,a)")},
			"shop/queue?labelSelector=queue in (a,b)"},
		"what a URL has to escape": {ExternalQuestion{Namespace: "shop", Metric: "pub:sub|a?b#c d"}, "shop/pub:sub|a?b#c d"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				f := startFleet(t, east)
				tc.question.Clusters = everywhere
				f.External(t.Context(), tc.question)
				fleettest.Same(t, "asked", []string{"/apis/external.metrics.k8s.io/v1beta1/namespaces/" + tc.want}, valuePaths(t, east))
			})
		})
	}
}

// TestEveryWordTellsQuestionsApart: were one left out of what makes two
// questions the same, an asker would get another's values.
func TestEveryWordTellsQuestionsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		custom := []func(*CustomQuestion){
			func(q *CustomQuestion) {},
			func(q *CustomQuestion) { q.Subject.namespace = "bank" },
			func(q *CustomQuestion) { q.Subject.resource = "services" },
			func(q *CustomQuestion) { q.Subject.resource = "pods.apps" },
			func(q *CustomQuestion) { q.Subject.name = "web-0" },
			func(q *CustomQuestion) { q.Metric = "errors" },
			func(q *CustomQuestion) { q.Selector = selector(t, "app=web") },
			func(q *CustomQuestion) { q.MetricSelector = selector(t, "app=web") },
		}
		for _, change := range custom {
			q := podsRPS
			change(&q)
			f.Custom(t.Context(), q)
		}
		external := []func(*ExternalQuestion){
			func(q *ExternalQuestion) {},
			func(q *ExternalQuestion) { q.Namespace = "bank" },
			func(q *ExternalQuestion) { q.Metric = "depth" },
			func(q *ExternalQuestion) { q.MetricSelector = selector(t, "app=web") },
		}
		for _, change := range external {
			q := queue
			change(&q)
			f.External(t.Context(), q)
		}
		if n := len(valuePaths(t, east)); n != len(custom)+len(external) {
			t.Errorf("%d requests for %d questions", n, len(custom)+len(external))
		}
	})
}
