// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	podautoscaler "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	customclient "k8s.io/metrics/pkg/client/custom_metrics"
	externalclient "k8s.io/metrics/pkg/client/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/lab"
)

// stock returns what a kube-controller-manager asks for metrics with, wired as there:
// its identity, its encodings, and discovery of the version.
func stock(t *testing.T, c *lab.Cluster) podautoscaler.MetricsClient {
	t.Helper()
	data, err := c.UserKubeconfig("system:serviceaccount:kube-system:horizontal-pod-autoscaler", "system:serviceaccounts")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(api))
	return podautoscaler.NewRESTMetricsClient(
		resourceclient.NewForConfigOrDie(config),
		customclient.NewForConfig(config, mapper, customclient.NewAvailableAPIsGetter(api)),
		externalclient.NewForConfigOrDie(config))
}

// A HorizontalPodAutoscaler's own client gets what it asks for: metrics of pods,
// of an object, of the namespace, and of what is no object.
func TestStockClient(t *testing.T) {
	e := whole(t)
	const metric = "stock_rps"
	e.tellWeb(t, metric)
	e.tell(t, "services", "web", metric, figure{"member1": "300m", "member2": "1700m"})
	e.tell(t, "statefulsets.apps", "web", metric, figure{"member1": "3", "member3": "4"})
	for member, value := range map[string]string{"member1": "5", "member2": "6"} {
		f := figureOf("namespaces", shop, metric, value)
		f.Namespace = ""
		e.tellFigure(t, member, f)
	}
	for _, member := range allMembers() {
		e.tellSeries(t, member, metric, map[string]string{"name=mail": "42", "name=print,of=" + member: "1500m"})
	}
	client := stock(t, e.Hub())

	t.Run("Pods", func(t *testing.T) {
		info, _, err := client.GetRawMetric(metric, shop, selector(t, "app=web"), selector(t, "fleetscale.io/cluster=member2"))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for pod, sample := range info {
			got[pod] = sample.Value
		}
		fleettest.Same(t, "values", map[string]int64{"web-0": 21000, "web-1": 22000}, got)
	})
	for name, tc := range map[string]struct {
		object   autoscalingv2.CrossVersionObjectReference
		selector string
		want     int64
	}{
		"Object": {autoscalingv2.CrossVersionObjectReference{Kind: "Service", Name: "web"}, "", 2000},
		"Object, the largest": {autoscalingv2.CrossVersionObjectReference{Kind: "Service", Name: "web", APIVersion: "v1"},
			"fleetscale.io/merge=max", 1700},
		"Object of another group": {autoscalingv2.CrossVersionObjectReference{Kind: "StatefulSet", Name: "web", APIVersion: "apps/v1"},
			"", 7000},
		"Object, namespace":                {autoscalingv2.CrossVersionObjectReference{Kind: "Namespace", Name: "ignored"}, "", 11000},
		"Object, namespace of one cluster": {autoscalingv2.CrossVersionObjectReference{Kind: "Namespace"}, "fleetscale.io/cluster=member2", 6000},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := client.GetObjectMetric(metric, shop, &tc.object, selector(t, tc.selector))
			if err != nil || got != tc.want {
				t.Errorf("it gets %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	t.Run("External", func(t *testing.T) {
		for text, want := range map[string][]int64{"": {1500, 1500, 1500, 42000}, "name=mail": {42000},
			"name=print,fleetscale.io/cluster!=member1": {1500, 1500}} {
			got, _, err := client.GetExternalMetric(metric, shop, selector(t, text))
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("of %q it gets %v, %v; want %v", text, got, err, want)
			}
		}
	})
	t.Run("Resource", func(t *testing.T) {
		info, _, err := client.GetResourceMetric(t.Context(), "cpu", shop, selector(t, "app=web,fleetscale.io/cluster=member2"), "")
		if err != nil || len(info) != 2 {
			t.Errorf("it gets %v, %v; want two pods", info, err)
		}
	})
}

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
