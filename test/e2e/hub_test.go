// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/lab"
)

// hubWeb has pods whose names are those of the members' pods in the same
// namespace: an autoscaler that saw the whole fleet would decide by the wrong
// pods. Each member's load is known from openShop; the hub's is set here.
const hubWeb = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 2
  serviceName: web
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}
  minReplicas: 1
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`

// A hub that runs workloads has a metrics-server, and HorizontalPodAutoscalers
// that live by it. They decide the same before the takeover, after it, and
// after it was undone. People see the whole fleet meanwhile.
func TestHubThatRunsWorkloads(t *testing.T) {
	t.Parallel()
	e := whole(t)
	hub := e.Hub()
	t.Cleanup(func() { e.tidyHub(t) })

	said, err := e.Restore(t.Context(), hub)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("kubectl fleetscale restore:\n%s", said)
	e.metricsServerAnswers(t)

	e.loadHub(t, "50m")
	if err := e.Apply(t.Context(), hub, shop, hubWeb); err != nil {
		t.Fatal(err)
	}
	e.decides(t, "metrics-server: 2 replicas at 50 %", 2, 50)

	if err := e.Join(t.Context(), hub); err != nil {
		t.Fatal(err)
	}
	if said, err = e.TakeOver(t.Context(), e.adapter); err != nil {
		t.Fatal(err)
	}
	t.Logf("kubectl fleetscale takeover:\n%s", said)
	e.sees(t, "the hub is one of its members", shopPath, func(v view) error { return seesHub(v, allMembers()...) })
	e.peopleSeeAll(t)
	e.controllersSeeTheHub(t)
	e.customMetricsOfOthers(t)

	e.decides(t, "fleetscale: 2 replicas at 50 %", 2, 50)
	e.loadHub(t, "90m")
	e.decides(t, "fleetscale: 4 replicas at 90 %", 4, 90)

	e.leave(t, hub.Name)
	if _, err := e.Restore(t.Context(), hub); err != nil {
		t.Fatal(err)
	}
	e.metricsServerAnswers(t)
	e.decides(t, "metrics-server again: 4 replicas at 90 %", 4, 90)
	e.loadHub(t, "50m")
	e.decides(t, "metrics-server again: 4 replicas at 50 %", 4, 50)
}

// tidyHub leaves the hub to the other tests as it was.
func (e *env) tidyHub(t *testing.T) {
	ctx := afterwards(t)
	_, deleteErr := e.Ask(ctx, "-n", shop, "delete", "hpa/web", "statefulset/web", "--ignore-not-found")
	_, takeOverErr := e.TakeOver(ctx, e.adapter)
	if err := errors.Join(deleteErr, e.Leave(ctx, e.Hub().Name), takeOverErr); err != nil {
		t.Error(err)
	}
}

func (e *env) loadHub(t *testing.T, cpu string) {
	t.Helper()
	if err := e.Hub().SetUsage(t.Context(), lab.Usage{Namespace: shop, CPU: new(resource.MustParse(cpu))}); err != nil {
		t.Fatal(err)
	}
}

// metricsServerAnswers wants the hub's former APIService to be back, and no other.
func (e *env) metricsServerAnswers(t *testing.T) {
	t.Helper()
	said := e.kubectl(t, "get", "apiservice", "-o",
		`jsonpath={range .items[?(@.spec.group=="metrics.k8s.io")]}{.metadata.name} {.spec.service.name}{"\n"}{end}`)
	if got, want := said.Stdout, "v1beta1.metrics.k8s.io metrics-server\n"; got != want {
		t.Errorf("APIServices of metrics.k8s.io and their Services are\n%swant\n%s", got, want)
	}
	e.kubectl(t, "wait", "--for=condition=Available", "--timeout=60s", "apiservice/v1beta1.metrics.k8s.io")
	eventually(t, "kubectl top shows the hub's nodes", func(ctx context.Context) error {
		said, err := e.Ask(ctx, "top", "nodes")
		if err == nil && strings.Contains(said.Stdout, "member") {
			err = fmt.Errorf("it shows those of members:\n%s", said.Stdout)
		}
		return err
	})
}

// decides waits until the autoscaler has seen the utilization and arrived at
// these replicas, and then has decided a few times more, without a complaint.
func (e *env) decides(t *testing.T, what string, replicas, utilization int32) {
	t.Helper()
	settled := 0
	eventually(t, what, func(ctx context.Context) error {
		said, err := e.Ask(ctx, "-n", shop, "get", "hpa", "web", "-o", "json")
		if err != nil {
			return err
		}
		var hpa autoscalingv2.HorizontalPodAutoscaler
		if err := json.Unmarshal([]byte(said.Stdout), &hpa); err != nil {
			return err
		}
		if err := hasDecided(&hpa, replicas, utilization); err != nil {
			settled = 0
			return err
		}
		if settled++; settled < 20 {
			return errors.New("it may yet change its mind")
		}
		return nil
	})
}

func hasDecided(hpa *autoscalingv2.HorizontalPodAutoscaler, replicas, utilization int32) error {
	for _, condition := range hpa.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("it complains of %s: %s", condition.Reason, condition.Message)
		}
	}
	if hpa.Status.CurrentReplicas != replicas || hpa.Status.DesiredReplicas != replicas {
		return fmt.Errorf("%d replicas, %d desired; want %d", hpa.Status.CurrentReplicas, hpa.Status.DesiredReplicas, replicas)
	}
	if len(hpa.Status.CurrentMetrics) != 1 || hpa.Status.CurrentMetrics[0].Resource == nil ||
		hpa.Status.CurrentMetrics[0].Resource.Current.AverageUtilization == nil {
		return errors.New("it has no metrics")
	}
	// What is measured is an estimate; half a percent may be rounded up or down.
	got := *hpa.Status.CurrentMetrics[0].Resource.Current.AverageUtilization
	if got < utilization-1 || got > utilization+1 {
		return fmt.Errorf("it sees a utilization of %d %%, want %d %%", got, utilization)
	}
	return nil
}

// seesHub wants the hub's pods beside those of these members.
func seesHub(v view, members ...string) error {
	want := append([]string{"hub/web-0", "hub/web-1"}, podsOf(members...)...)
	if v.Code != 200 || v.Warning != "" || !slices.Equal(v.Pods, want) {
		return fmt.Errorf("%d %s, warning %q, pods %v, want %v", v.Code, v.Message, v.Warning, v.Pods, want)
	}
	return nil
}

func (e *env) peopleSeeAll(t *testing.T) {
	t.Helper()
	said := e.kubectl(t, "top", "pods", "-n", shop, "-l", "app=web")
	want := []string{"web-0", "web-0", "web-0", "web-0", "web-1", "web-1", "web-1", "web-1"}
	fleettest.Same(t, "kubectl top pods", want, firsts(said.Stdout, 1))
}

// controllersSeeTheHub wants those who decide for the hub alone to get no other
// cluster's pods, also if they ask for it by name.
func (e *env) controllersSeeTheHub(t *testing.T) {
	t.Helper()
	data, err := e.Hub().UserKubeconfig("system:kube-controller-manager")
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"": {"hub/web-0", "hub/web-1"},
		"?labelSelector=fleetscale.io%2Fcluster%3Dmember1": nil,
	} {
		v, err := see(t.Context(), c, shopPath+query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, v.Pods); diff != "" || v.Code != 200 {
			t.Errorf("a controller of the hub asks %q: %d %s (-want +got):\n%s", query, v.Code, v.Message, diff)
		}
	}
}

// customMetricsOfOthers wants people to get the fleet's, and those who decide
// for the hub alone the hub's: it has none, since it would have to ask us.
// External ones are no cluster's pods.
func (e *env) customMetricsOfOthers(t *testing.T) {
	t.Helper()
	e.wants(t, serviceMetric(presence), whollyTells("web 3"))
	client, web := stock(t, e.Hub()), &autoscalingv2.CrossVersionObjectReference{Kind: "Service", Name: "web"}
	if got, _, err := client.GetObjectMetric(presence, shop, web, labels.Everything()); !apierrors.IsNotFound(err) {
		t.Errorf("a controller of the hub gets a custom metric of others: %d, %v", got, err)
	}
	if got, _, err := client.GetExternalMetric(presence, shop, labels.Everything()); err != nil || len(got) != len(allMembers()) {
		t.Errorf("a controller of the hub gets %v, %v; want the series of all", got, err)
	}
}
