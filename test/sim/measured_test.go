// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"
)

func TestWhatWasMeasuredCanBeLookedUp(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 2, Containers: 2})
	known := m.Measured("shop")
	told, err := metrics.NewForConfigOrDie(m.RESTConfig()).MetricsV1beta1().PodMetricses("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(known) != 2 || len(told.Items) != 2 {
		t.Fatalf("%d known, %d told, %v", len(known), len(told.Items), err)
	}
	if err := m.Scale(Deployment, "shop", "web", 0); err != nil {
		t.Fatal(err)
	}
	for i, item := range told.Items {
		number, at := m.Measurement(item.Timestamp.Add(time.Second - 1))
		if !at.Truncate(time.Second).Equal(item.Timestamp.Time) {
			t.Errorf("measured at %v, told %v", at, item.Timestamp)
		}
		if diff := cmp.Diff(item.Containers, known[i].Used(number)); diff != "" || item.Name != known[i].Name {
			t.Errorf("%s, told as %s:\n%s", known[i].Name, item.Name, diff)
		}
		if cmp.Equal(item.Containers, known[i].Used(number+1)) {
			t.Error("the next measurement is the same")
		}
	}
}

func TestWritesOfScaleAreKept(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 4})
	deployments := kubernetes.NewForConfigOrDie(m.RESTConfig()).AppsV1().Deployments("shop")
	for _, replicas := range []int32{6, 6, 3} { // the second changes nothing
		scale, err := deployments.GetScale(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		scale.Spec.Replicas = replicas
		if _, err := deployments.UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	want := []ScaleWrite{{Resource: "deployments", Namespace: "shop", Name: "web", From: 4, To: 6},
		{Resource: "deployments", Namespace: "shop", Name: "web", From: 6, To: 3}}
	if diff := cmp.Diff(want, m.ScaleWrites(), cmpopts.IgnoreFields(ScaleWrite{}, "At")); diff != "" {
		t.Error(diff)
	}
}
