// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
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
	pods, deployments := schema.GroupResource{Resource: "pods"}, schema.GroupResource{Group: "apps", Resource: "deployments"}
	nodes, namespaces := schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "namespaces"}
	tests := map[string]struct {
		question CustomQuestion
		want     string
	}{
		"an object of a namespace": {CustomQuestion{Namespace: "shop", Resource: pods, Name: "web-0", Metric: "rps"},
			"namespaces/shop/pods/web-0/rps"},
		"an object of a group": {CustomQuestion{Namespace: "shop", Resource: deployments, Name: "web", Metric: "rps"},
			"namespaces/shop/deployments.apps/web/rps"},
		"an object of no namespace": {CustomQuestion{Resource: nodes, Name: "n1", Metric: "rps"},
			"nodes/n1/rps"},
		"a namespace itself": {CustomQuestion{Resource: namespaces, Name: "shop", Metric: "rps"},
			"namespaces/shop/metrics/rps"},
		"all namespaces": {CustomQuestion{Resource: namespaces, Name: "*", Metric: "rps", Selector: selector(t, "a=b")},
			"namespaces/*/metrics/rps?labelSelector=a=b"},
		"all pods": {CustomQuestion{Namespace: "shop", Resource: pods, Name: "*", Metric: "rps"},
			"namespaces/shop/pods/*/rps"},
		"empty selectors are left out": {CustomQuestion{Namespace: "shop", Resource: pods, Name: "*", Metric: "rps", Selector: labels.Everything(), MetricSelector: labels.NewSelector()},
			"namespaces/shop/pods/*/rps"},
		"selectors": {CustomQuestion{Namespace: "shop", Resource: pods, Name: "*", Metric: "rps", Selector: selector(t, "tier in (b,a),app=web"), MetricSelector: selector(t, "code!=500,!path")},
			"namespaces/shop/pods/*/rps?labelSelector=app=web,tier in (a,b)&metricLabelSelector=code!=500,!path"},
		"by name no labels are asked for": {CustomQuestion{Namespace: "shop", Resource: pods, Name: "web-0", Metric: "rps", Selector: selector(t, "app=web"), MetricSelector: selector(t, "code=200")},
			"namespaces/shop/pods/web-0/rps?metricLabelSelector=code=200"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				f := startFleet(t, east)
				tc.question.Clusters = everywhere
				f.Custom(t.Context(), tc.question)
				if diff := cmp.Diff([]string{"/apis/custom.metrics.k8s.io/v1beta2/" + tc.want}, valuePaths(t, east)); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestExternalPaths(t *testing.T) {
	tests := map[string]struct {
		question ExternalQuestion
		want     string
	}{
		"all series":               {ExternalQuestion{Namespace: "shop", Metric: "queue"}, "shop/queue"},
		"some series":              {ExternalQuestion{Namespace: "shop", Metric: "queue", MetricSelector: selector(t, "queue in (b,a)")}, "shop/queue?labelSelector=queue in (a,b)"},
		"what a URL has to escape": {ExternalQuestion{Namespace: "shop", Metric: "pub:sub|a?b#c d"}, "shop/pub:sub|a?b#c d"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				f := startFleet(t, east)
				tc.question.Clusters = everywhere
				f.External(t.Context(), tc.question)
				if diff := cmp.Diff([]string{"/apis/external.metrics.k8s.io/v1beta1/namespaces/" + tc.want}, valuePaths(t, east)); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
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
			func(q *CustomQuestion) { q.Namespace = "bank" },
			func(q *CustomQuestion) { q.Resource.Resource = "services" },
			func(q *CustomQuestion) { q.Resource.Group = "apps" },
			func(q *CustomQuestion) { q.Name = "web-0" },
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
