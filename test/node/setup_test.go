// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	patience  = time.Minute
	namespace = metav1.NamespaceDefault
	container = "app"
)

// cluster has one real node and nothing else, and a record of its Pods as our programs keep it.
type cluster struct {
	lab    *lab.Lab
	client kubernetes.Interface
	pods   *pods.Store
}

// needNode skips the test where there can be no real node.
func needNode(t *testing.T) {
	t.Helper()
	skip, err := fixture.NoRealNode()
	if err != nil {
		t.Fatal(err)
	}
	if skip != "" {
		t.Skip(skip)
	}
}

func start(t *testing.T) *cluster {
	t.Helper()
	l, err := lab.Up(t.Context(), lab.Options{
		Dir: t.TempDir(), Log: os.Stderr,
		Members: []lab.Member{{Name: "member1", RealNodes: 1, WithoutMetricsServer: true, WithoutTestAdapter: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	})
	client, err := l.Members()[0].Client()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{lab: l, client: client, pods: pods.New(pods.Options{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.pods.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// seen is the cluster as our programs see it: always there.
type seen struct {
	rest.Interface
	reading *connection.Reading
}

func (seen) Name() string                   { return "member1" }
func (seen) State() member.State            { return member.State{Ready: true} }
func (seen) Silence() error                 { return nil }
func (s seen) Client() rest.Interface       { return s.Interface }
func (s seen) WatchClient() rest.Interface  { return s.Interface }
func (s seen) Reading() *connection.Reading { return s.reading }

// sized is a Pod as our programs know it.
func (c *cluster) sized(ctx context.Context, name string) (pods.SizedPod, error) {
	l := c.pods.AskSized(ctx, seen{c.client.CoreV1().RESTClient(), connection.NewReading()}, namespace, labels.Everything())
	for _, p := range l.Pods {
		if p.Name == name {
			return p, nil
		}
	}
	if l.Silent != nil {
		return pods.SizedPod{}, l.Silent
	}
	return pods.SizedPod{}, fmt.Errorf("%d Pods are listed, without %s", len(l.Pods), name)
}

// size is what a container requests and limits, as people write it. What is empty is not set.
type size struct{ cpu, memory, cpuLimit, memoryLimit string }

func (s size) resources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list(s.cpu, s.memory), Limits: list(s.cpuLimit, s.memoryLimit)}
}

func list(cpu, memory string) corev1.ResourceList {
	all := corev1.ResourceList{}
	if cpu != "" {
		all[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		all[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return all
}

// run is create, and the Pod is deleted with the test.
func (c *cluster) run(t *testing.T, name string, s size, edit func(*corev1.Container)) *corev1.Pod {
	t.Helper()
	t.Cleanup(func() {
		if err := c.delete(context.WithoutCancel(t.Context()), name); err != nil {
			t.Error(err)
		}
	})
	return c.create(t, name, s, edit)
}

// create makes a Pod whose container burns as its arguments say, and returns when it is ready.
func (c *cluster) create(t *testing.T, name string, s size, edit func(*corev1.Container)) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: lab.BurnImage, Resources: s.resources()}}},
	}
	edit(&p.Spec.Containers[0])
	if _, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return c.await(t, name, func(p *corev1.Pod) error {
		if s := statusOf(p); s.Ready && s.State.Running != nil {
			return nil
		}
		return fmt.Errorf("Pod %s is %s, and not ready: %+v", name, p.Status.Phase, p.Status.ContainerStatuses)
	})
}

// delete returns when the Pod is gone, and with it what it had of the node. One that is gone already is no error.
func (c *cluster) delete(ctx context.Context, name string) error {
	return fixture.Await(ctx, patience, func(ctx context.Context) error {
		err := c.client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil:
			return fmt.Errorf("Pod %s is still there", name)
		}
		return err
	})
}

// await returns the Pod once check finds nothing wrong with it.
func (c *cluster) await(t *testing.T, name string, check func(*corev1.Pod) error) *corev1.Pod {
	t.Helper()
	var p *corev1.Pod
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) (err error) {
		if p, err = c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// resize does what our controller does.
func (c *cluster) resize(t *testing.T, p *corev1.Pod, to size) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.UID},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": container, "resources": to.resources()}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.client.CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: "fleetscale-sizes"}, "resize")
	if err != nil {
		t.Fatal(err)
	}
}

func statusOf(p *corev1.Pod) corev1.ContainerStatus {
	if len(p.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return p.Status.ContainerStatuses[0]
}

// resized checks that all is done about the last resize.
func resized(to size) func(*corev1.Pod) error {
	return func(p *corev1.Pod) error {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodResizePending || condition.Type == corev1.PodResizeInProgress {
				return fmt.Errorf("Pod %s has the condition %s: %s: %s", p.Name, condition.Type, condition.Reason, condition.Message)
			}
		}
		s := statusOf(p)
		if p.Status.ObservedGeneration != p.Generation || !s.Ready || s.Resources == nil {
			return fmt.Errorf("Pod %s of generation %d, with %d observed, has a container with ready %v, resources %v",
				p.Name, p.Generation, p.Status.ObservedGeneration, s.Ready, s.Resources)
		}
		want := to.resources()
		if diff := cmp.Diff(want, *s.Resources); diff != "" {
			return fmt.Errorf("resources of Pod %s (-want +got):\n%s", p.Name, diff)
		}
		if diff := cmp.Diff(want.Requests, s.AllocatedResources); diff != "" {
			return fmt.Errorf("resources that are allocated to Pod %s (-want +got):\n%s", p.Name, diff)
		}
		return nil
	}
}

// hasLimits checks those of the container's cgroup.
func hasLimits(t *testing.T, p *corev1.Pod, want lab.Limits) {
	t.Helper()
	got, err := lab.LimitsOf(statusOf(p).ContainerID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits of the container of %s (-want +got):\n%s", p.Name, diff)
	}
}
