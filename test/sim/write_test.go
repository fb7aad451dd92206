// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applyautoscalingv2 "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	"k8s.io/client-go/kubernetes"

	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func copyTo(w io.Writer, resp *http.Response) (int64, error) { return io.Copy(w, resp.Body) }

func TestScale(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 2}, Workload{Namespace: "shop", Name: "web", Kind: StatefulSet, Replicas: 9})
	for encoding, client := range clients(t, m, kubernetes.NewForConfig) {
		t.Run(encoding, func(t *testing.T) {
			deployments := client.AppsV1().Deployments("shop")
			scale, err := deployments.GetScale(t.Context(), "web", metav1.GetOptions{})
			if err != nil || scale.Status.Selector != "app=web" {
				t.Fatalf("%+v, %v", scale, err)
			}
			former := *scale
			for _, replicas := range []int32{5, 0, 2} {
				scale.Spec.Replicas = replicas
				if scale, err = deployments.UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); err != nil ||
					scale.Status.Replicas != replicas {
					t.Fatalf("to %d: %+v, %v", replicas, scale, err)
				}
				pods, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web,!apps.kubernetes.io/pod-index"})
				if err != nil || len(pods.Items) != int(replicas) {
					t.Errorf("%d Pods, %v; want %d", len(pods.Items), err, replicas)
				}
			}
			if _, err := deployments.UpdateScale(t.Context(), "web", &former, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("by an old one: %v", err)
			}
			if _, err := deployments.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{},
				"scale"); err != nil {
				t.Errorf("by a patch: %v", err)
			}
			if d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 3 ||
				d.Status.ReadyReplicas != 3 {
				t.Errorf("the Deployment: %+v, %v", d, err)
			}
			if _, err := deployments.GetScale(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("of a Deployment that is not there: %v", err)
			}
		})
	}
}

func TestAutoscalersAreKept(t *testing.T) {
	m := newOne(t)
	for encoding, client := range clients(t, m, kubernetes.NewForConfig) {
		t.Run(encoding, func(t *testing.T) {
			hpas := client.AutoscalingV2().HorizontalPodAutoscalers("shop")
			w, err := hpas.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			hpa.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment",
				Name: "web"}, MaxReplicas: 5}
			created, err := hpas.Create(t.Context(), hpa, metav1.CreateOptions{})
			if err != nil || created.UID == "" || created.ResourceVersion == "" {
				t.Fatalf("%+v, %v", created, err)
			}
			if _, err := hpas.Create(t.Context(), hpa, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
				t.Errorf("twice: %v", err)
			}
			created.Spec.MaxReplicas = 6
			updated, err := hpas.Update(t.Context(), created, metav1.UpdateOptions{})
			if err != nil || updated.Spec.MaxReplicas != 6 || updated.UID != created.UID || updated.ResourceVersion == created.ResourceVersion {
				t.Errorf("%+v, %v", updated, err)
			}
			if same, err := hpas.Update(t.Context(), updated, metav1.UpdateOptions{}); err != nil ||
				same.ResourceVersion != updated.ResourceVersion {
				t.Errorf("an update that changes nothing: %+v, %v", same, err)
			}
			if _, err := hpas.Update(t.Context(), created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("an update of an old one: %v", err)
			}
			applied, err := hpas.Apply(t.Context(), applyautoscalingv2.HorizontalPodAutoscaler("web", "shop").
				WithSpec(applyautoscalingv2.HorizontalPodAutoscalerSpec().WithMinReplicas(2)), metav1.ApplyOptions{FieldManager: "test"})
			if err != nil || *applied.Spec.MinReplicas != 2 || applied.Spec.MaxReplicas != 6 {
				t.Errorf("%+v, %v", applied, err)
			}
			if err := hpas.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := hpas.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("after it was deleted: %v", err)
			}
			for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
				if e := <-w.ResultChan(); e.Type != want {
					t.Errorf("%s %v, want %s", e.Type, e.Object, want)
				}
			}
		})
	}
	if _, err := clients(t, m, kubernetes.NewForConfig)["json"].CoreV1().Pods("shop").Create(t.Context(), nil,
		metav1.CreateOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("a Pod was created: %v", err)
	}
}

func TestSizesAreApplied(t *testing.T) {
	m := newOne(t)
	client := client(t, m).CoreV1().RESTClient()
	const at = "/apis/fleetscale.io/v1alpha1/namespaces/shop/podsizes/fleetscale"
	apply := func(workload string) *fleetscalev1alpha1.PodSizes {
		t.Helper()
		body, err := client.Patch(types.ApplyPatchType).AbsPath(at).Param("fieldManager", "test").SetHeader("Accept", mediaJSON).
			Body([]byte(`{"apiVersion":"fleetscale.io/v1alpha1","kind":"PodSizes","workloads":[` + workload + `]}`)).Do(t.Context()).Raw()
		sizes := &fleetscalev1alpha1.PodSizes{}
		if err == nil {
			err = json.Unmarshal(body, sizes)
		}
		if err != nil {
			t.Fatal(err)
		}
		return sizes
	}
	apply(`{"name":"web","matchLabels":{"app":"web"},"containers":[{"name":"app"},{"name":"log"}]}`)
	apply(`{"name":"api","matchLabels":{"app":"api"}}`)
	got := apply(`{"name":"web","matchLabels":{"app":"web"},"containers":[{"name":"app","requests":{"cpu":"2"}}]}`).Workloads
	want := []fleetscalev1alpha1.SizedWorkload{
		{Name: "web", MatchLabels: map[string]string{"app": "web"},
			Containers: []fleetscalev1alpha1.SizedContainer{{Name: "app", Requests: map[string]string{"cpu": "2"}}}},
		{Name: "api", MatchLabels: map[string]string{"app": "api"}},
	}
	fleettest.Same(t, "", want, got)
	body, err := client.Get().AbsPath("/apis/fleetscale.io/v1alpha1/podsizes").SetHeader("Accept", mediaProtobuf+","+mediaJSON).
		Do(t.Context()).Raw()
	list := &fleetscalev1alpha1.PodSizesList{}
	if err := errors.Join(err, json.Unmarshal(body, list)); err != nil || len(list.Items) != 1 {
		t.Errorf("%d are listed, %v", len(list.Items), err)
	}
}
