// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestStatusIsWrittenByItself(t *testing.T) {
	m := newOne(t)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	hpa.Spec.MaxReplicas = 5
	if err := m.Put(hpa); err != nil {
		t.Fatal(err)
	}
	hpas := client(t, m).AutoscalingV2().HorizontalPodAutoscalers("shop")
	got, err := hpas.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || got.Generation != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Spec.MaxReplicas, got.Status.DesiredReplicas = 9, 3
	if got, err = hpas.UpdateStatus(t.Context(), got, metav1.UpdateOptions{}); err != nil || got.Spec.MaxReplicas != 5 ||
		got.Status.DesiredReplicas != 3 || got.Generation != 1 {
		t.Errorf("after a write of the status: %+v, %v", got, err)
	}
	got.Spec.MaxReplicas, got.Status.DesiredReplicas = 9, 4
	if got, err = hpas.Update(t.Context(), got, metav1.UpdateOptions{}); err != nil || got.Spec.MaxReplicas != 9 ||
		got.Status.DesiredReplicas != 3 || got.Generation != 2 {
		t.Errorf("after a write of the spec: %+v, %v", got, err)
	}
}

func TestGroupsOfOthersAreDiscoveredThere(t *testing.T) {
	m := newOne(t)
	for _, group := range []string{"cluster.karmada.io", metricsGroup} {
		m.Delegate(group, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	}
	for path, want := range map[string]int{
		"/apis/cluster.karmada.io":           http.StatusTeapot,
		"/apis/cluster.karmada.io/v1alpha1":  http.StatusTeapot,
		"/apis/other.karmada.io/v1alpha1":    http.StatusNotFound,
		"/apis/" + metricsGroup + "/v1beta1": http.StatusOK,
	} {
		resp, err := plainly(t, m, path)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

func TestWhatIsPutMustBeWritable(t *testing.T) {
	m := newOne(t)
	if err := m.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}}); err == nil {
		t.Error("a node was put there")
	}
	if err := m.Put(&v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}); err != nil {
		t.Error(err)
	}
	resp, err := plainly(t, m, "/apis/autoscaling.karmada.io/v1alpha1/federatedhpas")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list v1alpha1.FederatedHPAList
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Items) != 1 || list.Items[0].UID == "" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestEventsAreTakenAndForgotten(t *testing.T) {
	m := newOne(t)
	c := client(t, m)
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "said"}
	if _, err := c.CoreV1().Events("shop").Create(t.Context(), &corev1.Event{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := c.EventsV1().Events("shop").Create(t.Context(), &eventsv1.Event{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if list, err := c.CoreV1().Events("shop").List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestAnotherServerAnswersForAGroup(t *testing.T) {
	m := newOne(t)
	m.Delegate(metricsGroup, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	for path, want := range map[string]bool{"/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods": true, "/apis/apps/v1/deployments": false} {
		resp, err := plainly(t, m, path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if delegated := string(body) == path; err != nil || delegated != want {
			t.Errorf("%s: %s, %v", path, body, err)
		}
	}
}

func TestOurKindsAreKeptWhole(t *testing.T) {
	m := newOne(t)
	paths, err := client(t, m).Discovery().OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	text, err := paths["apis/autoscaling.karmada.io/v1alpha1"].Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Type string }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil || len(document.Components.Schemas) != 3 {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTemplatesHaveNoPods(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 3, Template: true})
	for encoding, client := range clients(t, m, kubernetes.NewForConfig) {
		scale, err := client.AppsV1().Deployments("shop").GetScale(t.Context(), "web", metav1.GetOptions{})
		if err != nil || scale.Spec.Replicas != 3 || scale.Status.Replicas != 0 || scale.Status.Selector != "app=web" {
			t.Errorf("%s: %+v, %v", encoding, scale, err)
		}
	}
	if err := m.Scale(Deployment, "shop", "web", 7); err != nil {
		t.Error(err)
	}
	if n, err := m.Replicas(Deployment, "shop", "web"); err != nil || n != 7 {
		t.Errorf("%d replicas, %v", n, err)
	}
	if list, err := client(t, m).CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := m.Replicas(Deployment, "shop", "none"); err == nil {
		t.Error("a Deployment that does not run has replicas")
	}
}

func TestPodsMayBeOld(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 1, Age: time.Hour})
	if err := m.Scale(Deployment, "shop", "web", 2); err != nil {
		t.Fatal(err)
	}
	list, err := client(t, m).CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old := 0
	for _, p := range list.Items {
		if time.Since(p.Status.StartTime.Time) > 50*time.Minute {
			old++
		}
	}
	if old != 1 {
		t.Errorf("%d of %d Pods are old", old, len(list.Items))
	}
}

func TestRequestsAreSeen(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web"})
	var mu sync.Mutex
	var seen []Seen
	m.OnRequest(func(s Seen) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, s)
	})
	get := func() {
		if _, err := client(t, m).AppsV1().Deployments("shop").GetScale(t.Context(), "web", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	get()
	m.OnRequest(nil)
	get()
	if len(seen) != 1 || time.Since(seen[0].At) > time.Minute {
		t.Fatalf("%+v", seen)
	}
	want := Seen{Request{Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale"}, "shop", "web", seen[0].At}
	fleettest.Same(t, "", want, seen[0])
}
