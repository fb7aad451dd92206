// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// resizes is a pod that is resized, and what is told of that.
type resizes struct {
	*testing.T
	cluster *Cluster
	name    string
	told    watch.Interface
}

// testResize resizes a pod in each of the ways in which a kubelet does.
func testResize(t *testing.T, _ *Lab, c *Cluster) {
	requests := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "sized"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Image: "none", Resources: requests("100m"), ResizePolicy: []corev1.ContainerResizePolicy{
				{ResourceName: "cpu", RestartPolicy: corev1.NotRequired}, {ResourceName: "memory", RestartPolicy: corev1.RestartContainer},
			}},
			{Name: "side", Image: "none", Resources: requests("50m")},
		}},
	}
	client, _ := clients(t, c)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "sizes"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, func(ctx context.Context) error { // the namespace's service account may be a moment late
		_, err := client.CoreV1().Pods("sizes").Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	r := &resizes{T: t, cluster: c, name: pod.Name}
	r.watch()
	r.awaits("None has 100m restarted 0")

	t.Log("at once")
	r.resize("cpu", "200m")
	r.awaits("InProgress has 100m restarted 0")
	r.awaits("None has 200m restarted 0")

	t.Log("deferred, and withdrawn")
	r.plays("Deferred")
	r.resize("cpu", "300m")
	r.awaits("Deferred has 200m restarted 0")
	r.resize("cpu", "200m")
	r.awaits("None has 200m restarted 0")

	t.Log("infeasible, until it is not")
	r.plays("Infeasible")
	r.resize("cpu", "400m")
	r.awaits("Infeasible has 200m restarted 0")
	r.plays("InProgress")
	r.awaits("InProgress has 200m restarted 0")
	r.plays("")
	r.awaits("None has 400m restarted 0")

	t.Log("with errors, and restarts")
	r.plays("Error")
	r.resize("memory", "64Mi")
	r.awaits("Error has 400m restarted 0")
	r.plays("")
	r.awaits("None has 400m 64Mi restarted 1")
	r.resize("cpu", "500m")
	r.awaits("None has 500m 64Mi restarted 1")
}

func (r *resizes) watch() {
	config, err := r.cluster.RESTConfig()
	if err != nil {
		r.Fatal(err)
	}
	r.told, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("sizes").Watch(r.Context(),
		metav1.SingleObject(metav1.ObjectMeta{Name: r.name}))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(r.told.Stop)
}

// resize asks for so much of a resource of the first container.
func (r *resizes) resize(name, amount string) {
	r.patch("resize", map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "main", "resources": map[string]any{"requests": map[string]string{name: amount}}},
	}}})
}

// plays has the lab play a kubelet that does so; empty: one that resizes.
func (r *resizes) plays(fault string) {
	var value any
	if fault != "" {
		value = fault
	}
	r.patch("", map[string]any{"metadata": map[string]any{"annotations": map[string]any{"lab.fleetscale.io/resize": value}}})
}

func (r *resizes) patch(subresource string, change any) {
	r.Helper()
	body, err := json.Marshal(change)
	if err != nil {
		r.Fatal(err)
	}
	client, _ := clients(r.T, r.cluster)
	var at []string
	if subresource != "" {
		at = append(at, subresource)
	}
	_, err = client.CoreV1().Pods("sizes").Patch(r.Context(), r.name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, at...)
	if err != nil {
		r.Fatal(err)
	}
}

// awaits waits until the pod is told to be so.
func (r *resizes) awaits(want string) {
	r.Helper()
	last := "nothing"
	for last != want {
		select {
		case event, more := <-r.told.ResultChan():
			pod, is := event.Object.(*corev1.Pod)
			if !more || !is {
				r.Fatalf("the watch ended with %v; the pod is %s, want %s", event.Object, last, want)
			}
			if pod.Status.ObservedGeneration == pod.Generation && pod.Status.Phase == corev1.PodRunning {
				last = describeResize(pod)
			}
		case <-time.After(patience):
			r.Fatalf("the pod is %s, want %s", last, want)
		}
	}
}

// describeResize is its state, what the first container has and how often it was restarted.
func describeResize(pod *corev1.Pod) string {
	state := "None"
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Type == corev1.PodResizePending:
			state = c.Reason
		case c.Type == corev1.PodResizeInProgress && c.Reason != "":
			state = c.Reason
		case c.Type == corev1.PodResizeInProgress:
			state = "InProgress"
		}
	}
	s := pod.Status.ContainerStatuses[0]
	has := s.Resources.Requests.Cpu().String()
	if memory, set := s.Resources.Requests[corev1.ResourceMemory]; set {
		has += " " + memory.String()
	}
	return fmt.Sprintf("%s has %s restarted %d", state, has, s.RestartCount)
}
