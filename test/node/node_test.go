// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const mi = 1 << 20

// TestNode has one real node, which the tests share, one after the other: each leaves it empty.
func TestNode(t *testing.T) {
	needNode(t)
	before := machineNow(t)
	c := start(t)
	t.Run("a running container is resized", c.testResize)
	t.Run("a resize waits for room", c.testDeferred)
	t.Run("a container that wants it is restarted once", c.testRestart)
	t.Run("a kill for want of memory is told of", c.testOOMKill)
	t.Run("the machine is as it was", func(t *testing.T) {
		fleettest.Same(t, "a node changes what is not its own", before, machineNow(t))
	})
	t.Run("it ends as a whole", c.testEnd)
}

// machineNow is what a kubelet, containerd or CNI would change of a machine.
func machineNow(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, file := range []string{"/proc/self/mountinfo", "/proc/sys/kernel/hostname", "/proc/sys/kernel/panic",
		"/proc/sys/vm/overcommit_memory",
		"/proc/sys/net/ipv4/ip_forward", "/proc/net/route"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(text)
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		all[i.Name] = i.Flags.String()
	}
	return all
}

// testEnd ends one process in the way in which nobody can tidy up.
func (c *cluster) testEnd(t *testing.T) {
	id := statusOf(c.create(t, "left", size{"10m", "16Mi", "", "16Mi"}, asItIs)).ContainerID
	if err := c.lab.Members()[0].Process("node1").Kill(); err != nil {
		t.Fatal(err)
	}
	// A cgroup is there for as long as processes are in it.
	err := fixture.Await(t.Context(), patience, func(context.Context) error {
		if limits, err := lab.LimitsOf(id); err == nil {
			return fmt.Errorf("the container is still there, with %+v", limits)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func asItIs(*corev1.Container) {}

func (c *cluster) testResize(t *testing.T) {
	const name = "resized"
	p := c.run(t, name, size{"100m", "64Mi", "300m", "128Mi"}, func(c *corev1.Container) { c.Args = []string{"--cpu=50", "--memory=20"} })
	hasLimits(t, p, lab.Limits{MilliCPU: 300, Memory: 128 * mi})
	began := statusOf(p)

	to := size{"250m", "100Mi", "600m", "256Mi"}
	c.resize(t, p, to)
	p = c.await(t, name, resized(to))
	hasLimits(t, p, lab.Limits{MilliCPU: 600, Memory: 256 * mi})

	to = size{"50m", "48Mi", "200m", "96Mi"} // more than the container uses
	c.resize(t, p, to)
	p = c.await(t, name, resized(to))
	hasLimits(t, p, lab.Limits{MilliCPU: 200, Memory: 96 * mi})

	if ended := statusOf(p); ended.RestartCount != 0 || ended.ContainerID != began.ContainerID {
		t.Errorf("the container was restarted: %+v", ended)
	}
	want := []pods.Container{{Name: container,
		Requests: pods.Resources{MilliCPU: 50, Memory: 48 * mi}, Limits: pods.Resources{MilliCPU: 200, Memory: 96 * mi}}}
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		known, err := c.sized(ctx, name)
		if diff := cmp.Diff(want, known.Containers); err == nil && diff != "" {
			err = fmt.Errorf("what is known of the containers (-want +got):\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func (c *cluster) testDeferred(t *testing.T) {
	const name, other = "deferred", "filler"
	free := c.allocatable(t)
	before := size{"100m", "64Mi", "100m", "64Mi"}
	p := c.run(t, name, before, asItIs)
	c.run(t, other, size{cpu: fmt.Sprintf("%dm", free-300)}, asItIs)

	to := size{"400m", "64Mi", "400m", "64Mi"}
	c.resize(t, p, to)
	p = c.await(t, name, func(p *corev1.Pod) error {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodResizePending && condition.Reason == corev1.PodReasonDeferred {
				return nil
			}
		}
		return fmt.Errorf("the resize does not wait: %+v", p.Status.Conditions)
	})
	if got, want := p.Spec.Containers[0].Resources.Requests.Cpu().String(), "400m"; got != want {
		t.Errorf("the spec requests %s, want %s", got, want)
	}
	fleettest.Same(t, "what is allocated while it waits", before.resources().Requests, statusOf(p).AllocatedResources)
	hasLimits(t, p, lab.Limits{MilliCPU: 100, Memory: 64 * mi})

	if err := c.delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	p = c.await(t, name, resized(to))
	hasLimits(t, p, lab.Limits{MilliCPU: 400, Memory: 64 * mi})
	if n := statusOf(p).RestartCount; n != 0 {
		t.Errorf("the container was restarted %d times", n)
	}
}

// allocatable is how many thousandths of a core the node has.
func (c *cluster) allocatable(t *testing.T) int64 {
	t.Helper()
	return c.node(t).Status.Allocatable.Cpu().ScaledValue(resource.Milli)
}

func (c *cluster) node(t *testing.T) *corev1.Node {
	t.Helper()
	nodes, err := c.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != 1 {
		t.Fatalf("there are %d nodes, want one", len(nodes.Items))
	}
	return &nodes.Items[0]
}

func (c *cluster) testRestart(t *testing.T) {
	const name = "restarted"
	p := c.run(t, name, size{"100m", "64Mi", "200m", "64Mi"}, func(c *corev1.Container) {
		c.ResizePolicy = []corev1.ContainerResizePolicy{
			{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired},
			{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer},
		}
	})
	first := statusOf(p).ContainerID
	to := size{"100m", "96Mi", "200m", "96Mi"}
	c.resize(t, p, to)
	p = c.await(t, name, resized(to))
	second := statusOf(p)
	if second.RestartCount != 1 || second.ContainerID == first {
		t.Errorf("the container was not restarted once: %+v", second)
	}
	hasLimits(t, p, lab.Limits{MilliCPU: 200, Memory: 96 * mi})

	// What needs no restart comes afterwards: it would show another one.
	to = size{"50m", "96Mi", "300m", "96Mi"}
	c.resize(t, p, to)
	p = c.await(t, name, resized(to))
	if third := statusOf(p); third.RestartCount != 1 || third.ContainerID != second.ContainerID {
		t.Errorf("the container was restarted again: %+v", third)
	}
	hasLimits(t, p, lab.Limits{MilliCPU: 300, Memory: 96 * mi})
}

func (c *cluster) testOOMKill(t *testing.T) {
	const name = "killed"
	runtime := c.node(t).Status.NodeInfo.ContainerRuntimeVersion
	c.run(t, name, size{"10m", "32Mi", "", "32Mi"}, func(c *corev1.Container) { c.Args = []string{"--memory=100", "--after=3s"} })
	var kill *corev1.ContainerStateTerminated
	c.await(t, name, func(p *corev1.Pod) error {
		s := statusOf(p)
		if kill = s.LastTerminationState.Terminated; kill == nil {
			kill = s.State.Terminated
		}
		if kill == nil {
			return fmt.Errorf("the container was not killed: %+v", s)
		}
		return nil
	})
	t.Logf("%s says %s and exit code %d", runtime, kill.Reason, kill.ExitCode)
	if kill.ExitCode != 137 {
		t.Errorf("exit code %d, want 137", kill.ExitCode)
	}
	// It learns of the kill and of the end in any order, and what it says of the end is final.
	said := kill.Reason == "OOMKilled"
	if mayNotSay := strings.HasPrefix(runtime, "containerd://1."); !said && (!mayNotSay || kill.Reason != "Error") {
		t.Errorf("%s says that the reason is %q, want OOMKilled", runtime, kill.Reason)
	}
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		known, err := c.sized(ctx, name)
		if err != nil {
			return err
		}
		for _, k := range known.OOMKills {
			if k.Container == container && !k.FinishedAt.Before(kill.FinishedAt.Time) && (!k.Supposed || !said) {
				return nil
			}
		}
		return fmt.Errorf("what is known of the kill of %v: %+v", kill.FinishedAt, known.OOMKills)
	})
	if err != nil {
		t.Error(err)
	}
}
