// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// fakeMember is a cluster with Pods that never change, told in protobuf.
type fakeMember struct{ *memberstest.Member }

var _ mirror.Member = fakeMember{}

func (fakeMember) State() member.State { return member.State{} }

// memberOf has n Pods.
func memberOf(n int, pod func(i int) *corev1.Pod) fakeMember {
	return fakeMember{memberstest.New("east", func(r *http.Request) (*http.Response, error) {
		q := r.URL.Query()
		if q.Get("watch") == "true" {
			silent, _ := io.Pipe()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: silent}, nil
		}
		from, _ := strconv.Atoi(q.Get("continue"))
		limit, _ := strconv.Atoi(q.Get("limit"))
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		until := min(n, from+limit)
		for i := from; i < until; i++ {
			list.Items = append(list.Items, *pod(i))
		}
		if until < n {
			list.Continue = strconv.Itoa(until)
		}
		return memberstest.Respond(http.StatusOK, runtime.ContentTypeProtobuf,
			memberstest.Protobuf(runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}, list)), nil
	})}
}

var noon = metav1.Unix(1_795_262_400, 0)

func after(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(d)) }

// deployed is a Pod of one of several Deployments, as large as Pods are.
func deployed(deployment, i int) *corev1.Pod {
	app := fmt.Sprintf("checkout-%03d", deployment)
	has := func(cpu, memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)},
			Limits:   corev1.ResourceList{"memory": resource.MustParse(memory)},
		}
	}
	shop, mesh := has("250m", "512Mi"), has("100m", "64Mi")
	start := after(time.Duration(i) * time.Second)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("%s-7d9f8b6c5d-%05d", app, i), UID: types.UID(fmt.Sprintf("6ba7b810-9dad-41d1-80b4-%012x", i)),
			CreationTimestamp: after(time.Duration(i)*time.Second - time.Minute),
			Labels: map[string]string{"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop",
				"pod-template-hash": "7d9f8b6c5d"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-7d9f8b6c5d", UID: types.UID(app), Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%04d", i%1000), Priority: new(int32(1000)),
			Containers: []corev1.Container{
				{Name: "app", Image: "registry.example/shop/checkout:v1.2.3", Resources: shop},
				{Name: "proxy", Image: "registry.example/mesh/proxy:v4", Resources: mesh},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: &start, QOSClass: corev1.PodQOSBurstable,
			ContainerStatuses: []corev1.ContainerStatus{running("app", shop, start), running("proxy", mesh, start)},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: start},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start},
			},
		},
	}
}

// running is the status of a container that has what it requests, as kubelets write it.
func running(name string, has corev1.ResourceRequirements, since metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		AllocatedResources: has.Requests, Resources: &has,
	}
}

func run(t testing.TB) *Store {
	t.Helper()
	s := New(Options{})
	memberstest.Run(t.Context(), t, s.Run)
	return s
}
