// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestPodMetrics(t *testing.T) {
	m := newOne(t)
	run(t, m,
		Workload{Namespace: "shop", Name: "web", Replicas: 30, Containers: 2,
			Usage: Resources{CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi")}},
		Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 4},
		Workload{Namespace: "bank", Name: "web", Replicas: 2})
	for encoding, client := range clients(t, m, metrics.NewForConfig) {
		t.Run(encoding, func(t *testing.T) {
			for selector, want := range map[string]int{"": 34, "app=web": 30, "app in (db)": 4, "app=none": 0} {
				list, err := client.MetricsV1beta1().PodMetricses("shop").List(t.Context(), metav1.ListOptions{LabelSelector: selector})
				if err != nil || len(list.Items) != want {
					t.Errorf("%q: %d items, %v; want %d", selector, len(list.Items), err, want)
				}
			}
			all, err := client.MetricsV1beta1().PodMetricses("").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
			if err != nil || len(all.Items) != 32 {
				t.Fatalf("%d items in all namespaces, %v", len(all.Items), err)
			}
			for _, item := range all.Items {
				if item.Namespace != "shop" {
					continue
				}
				cpu, memory := item.Containers[1].Usage.Cpu().MilliValue(), item.Containers[1].Usage.Memory().Value()
				if cpu < 900 || cpu > 1101 || memory < 900<<20 || memory > 1127<<20 || len(item.Containers) != 2 || item.Timestamp.IsZero() {
					t.Errorf("%s uses %v", item.Name, item.Containers)
				}
			}
			one, err := client.MetricsV1beta1().PodMetricses("shop").Get(t.Context(), "db-3", metav1.GetOptions{})
			if err != nil || one.Name != "db-3" || one.Labels["app"] != "db" {
				t.Errorf("db-3: %+v, %v", one, err)
			}
			if _, err := client.MetricsV1beta1().PodMetricses("shop").Get(t.Context(), "db-4", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("db-4: %v", err)
			}
			nodes, err := client.MetricsV1beta1().NodeMetricses().List(t.Context(), metav1.ListOptions{})
			if err != nil || len(nodes.Items) != 2 {
				t.Errorf("%d nodes, %v", len(nodes.Items), err)
			}
		})
	}
}

func TestMeasurementsAreMembersOwn(t *testing.T) {
	m := measuring{resolution: 15 * time.Second, offset: 5 * time.Second}
	begin := time.Unix(1_000_000_000, 0) // no multiple of 15
	number, at := m.last(begin)
	if at.After(begin) || begin.Sub(at) >= m.resolution || (at.Unix()-5)%15 != 0 {
		t.Errorf("at %v the last measurement was at %v", begin, at)
	}
	if later, next := m.last(at.Add(m.resolution)); later != number+1 || next != at.Add(m.resolution) {
		t.Errorf("measurement %d at %v follows %d at %v", later, next, number, at)
	}
	if same, _ := m.last(at.Add(m.resolution - 1)); same != number {
		t.Errorf("measurement %d became %d before its time", number, same)
	}
}

func TestFiguresOfObjects(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 3,
		Metrics: map[string]resource.Quantity{"requests": resource.MustParse("42")}})
	m.SetFigure(Figure{Namespace: "shop", Resource: "deployments.apps", Object: "api", Metric: "rate", Value: resource.MustParse("7")})
	m.SetFigure(Figure{Resource: "namespaces", Object: "shop", Metric: "quota", Value: resource.MustParse("8")})
	config := m.RESTConfig()
	found := discovery.NewDiscoveryClientForConfigOrDie(config)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	client := custom_metrics.NewForConfig(config, mapper, custom_metrics.NewAvailableAPIsGetter(found))

	pods, err := client.NamespacedMetrics("shop").GetForObjects(schema.GroupKind{Kind: "Pod"}, labels.SelectorFromSet(labels.Set{"app": "db"}),
		"requests", labels.Everything())
	if err != nil || len(pods.Items) != 3 || pods.Items[2].DescribedObject.Name != "db-2" || pods.Items[2].Value.Value() != 42 {
		t.Errorf("of Pods: %+v, %v", pods, err)
	}
	if _, err := client.NamespacedMetrics("shop").GetForObjects(schema.GroupKind{Kind: "Pod"}, labels.Everything(), "unknown",
		labels.Everything()); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown metric: %v", err)
	}
	api, err := client.NamespacedMetrics("shop").GetForObject(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "api", "rate",
		labels.Everything())
	if err != nil || api.Value.Value() != 7 {
		t.Errorf("of a Deployment: %+v, %v", api, err)
	}
	shop, err := client.RootScopedMetrics().GetForObject(schema.GroupKind{Kind: "Namespace"}, "shop", "quota", labels.Everything())
	if err != nil || shop.Value.Value() != 8 {
		t.Errorf("of a namespace: %+v, %v", shop, err)
	}
	for _, version := range []string{"v1beta1", "v1beta2"} {
		list, err := found.ServerResourcesForGroupVersion(customGroup + "/" + version)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range list.APIResources {
			names = append(names, r.Name)
		}
		fleettest.Same(t, "listed in "+version, []string{"deployments.apps/rate", "namespaces/quota", "pods/requests"}, names)
	}
}

func TestSeries(t *testing.T) {
	m := newOne(t)
	m.SetSeries(Series{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: resource.MustParse("1")})
	m.SetSeries(Series{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: resource.MustParse("5")})
	m.SetSeries(Series{Metric: "queue", Labels: map[string]string{"name": "fax"}, Value: resource.MustParse("6")})
	for encoding, client := range clients(t, m, external_metrics.NewForConfig) {
		for selector, want := range map[string]int64{"name=mail": 5, "": 11, "name=none": 0} {
			parsed, _ := labels.Parse(selector)
			list, err := client.NamespacedMetrics("shop").List("queue", parsed)
			if err != nil {
				t.Fatal(err)
			}
			var sum int64
			for _, item := range list.Items {
				sum += item.Value.Value()
			}
			if sum != want {
				t.Errorf("%s: %q sums up to %d, want %d", encoding, selector, sum, want)
			}
		}
		if _, err := client.NamespacedMetrics("shop").List("other", labels.Everything()); !apierrors.IsNotFound(err) {
			t.Errorf("an unknown metric: %v", err)
		}
	}
}

func TestDiscoveryMapsKinds(t *testing.T) {
	m := newOne(t)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(m.RESTConfig())))
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "Pod"}: "pods", {Group: "apps", Kind: "StatefulSet"}: "statefulsets",
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "horizontalpodautoscalers",
	} {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil || mapping.Resource.Resource != want {
			t.Errorf("%s: %+v, %v", kind, mapping, err)
		}
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Kind: "Unicorn"}); !meta.IsNoMatchError(err) {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestKubeletTellsOfEachContainer(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 4, Containers: 2})
	resp, err := plainly(t, m, kubeletPath(m.Name()+"-node-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if _, err := copyTo(&text, resp); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text.String(), "\ncontainer_cpu_usage_seconds_total{"); got != 4 {
		t.Errorf("cpu of %d containers on one of two nodes, want 4:\n%s", got, text.String())
	}
}
