// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	podtest "k8s.io/kubernetes/pkg/api/pod/testing"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/helper/qos"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// TestResizesAreAccepted resizes random Pods, and has each judged by the API server's validation. What it is not asked for,
// because we hold it to be refused, it refuses as well.
func TestResizesAreAccepted(t *testing.T) {
	pods := uint64(200_000)
	if testing.Short() {
		pods = 20_000
	}
	accepted, refused := 0, map[sizes.Refusal]int{}
	for seed := range pods {
		r := rand.New(rand.NewPCG(seed, 6))
		ours, old := pod(r)
		resize, why := ours.InPlace()
		changed := old.DeepCopy()
		for n, c := range ours.Containers {
			to := wanted(c)
			if why == "" {
				to = resize.Containers[n]
			}
			changed.Spec.Containers[n].Resources = requirements(to)
		}
		faults := validation.ValidatePodResize(changed, old, validation.PodValidationOptions{})
		switch {
		case why == "" && !resize.Changes(): // nobody is asked
		case (why == "") != (len(faults) == 0):
			t.Fatalf("Pod %d is refused by us: %q, and by the API server: %v\nfrom %+v\nto %+v", seed, why, faults.ToAggregate(), ours, resize)
		case why == "":
			accepted++
		default:
			refused[why]++
		}
	}
	t.Logf("%d resizes accepted; not asked for: %v", accepted, refused)
	if accepted < int(pods)/4 || len(refused) != 3 {
		t.Error("something was not tried")
	}
}

// TestMovesAreAccepted has the API server's validation judge each resize of a plan: those that are done in part, because
// something is urgent, or replicas move, or a cluster is silent; and those that are withdrawn.
func TestMovesAreAccepted(t *testing.T) {
	pods := uint64(200_000)
	if testing.Short() {
		pods = 20_000
	}
	now := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	policy := sizes.Policy{Mode: sizes.ModeInPlace, ActAfter: time.Hour, Deferred: time.Minute, InProgress: time.Minute}
	accepted := map[sizes.Way]int{}
	for seed := range pods {
		r := rand.New(rand.NewPCG(seed, 7))
		ours, old := pod(r)
		ours.Ready = true
		disturb(r, &ours)
		c := sizes.ClusterPods{Cluster: "east", Pods: []sizes.Running{ours}, Replicas: 1, Means: sizes.Means{InPlace: true},
			History: time.Duration(r.IntN(2)) * time.Hour, Scaling: r.IntN(3) == 0, Budget: sizes.Budget{MaxUnavailable: 1, Resizes: 1}}
		clusters := []sizes.ClusterPods{c, {Cluster: "west", Silent: r.IntN(3) == 0}}
		for _, move := range sizes.PlanMoves(clusters, policy, now) {
			changed := old.DeepCopy()
			for n, to := range move.Resize.Containers {
				changed.Spec.Containers[n].Resources = requirements(to)
			}
			if faults := validation.ValidatePodResize(changed, old, validation.PodValidationOptions{}); len(faults) > 0 {
				t.Fatalf("Pod %d: %s is refused: %v\nfrom %+v\nto %+v", seed, move.Way, faults.ToAggregate(), ours, move.Resize)
			}
			accepted[move.Way]++
		}
	}
	t.Logf("accepted: %v", accepted)
	if accepted[sizes.WayResize] < int(pods)/20 || accepted[sizes.WayWithdraw] < int(pods)/20 {
		t.Error("something was not tried")
	}
}

// disturb gives the Pod a resize that does not come to be, or something that is urgent.
func disturb(r *rand.Rand, p *sizes.Running) {
	p.Resize = sizes.ResizeState(r.IntN(5))
	for n := range p.Containers {
		c := &p.Containers[n]
		c.OOM, c.Pressed, c.Restarts = r.IntN(4) == 0, [2]bool{r.IntN(4) == 0, r.IntN(4) == 0}, [2]bool{r.IntN(4) == 0, r.IntN(4) == 0}
		c.Size.Lower, c.Size.Upper = c.Size.Target, c.Size.Target
		c.New, c.Actual = c.Resources, c.Resources
		for k := range c.Actual.Requests {
			if c.New.Requests[k] = c.Size.Target[k]; c.New.Requests[k] > 0 {
				c.New.Requests[k] += r.Int64N(100)
			}
			if c.New.Limits[k] = c.Size.Limits[k]; c.New.Limits[k] >= 0 {
				c.New.Limits[k] = c.New.Requests[k] + c.Size.Limits[k] - c.Size.Target[k]
			}
			if r.IntN(3) == 0 {
				by := r.Int64N(500)
				c.Actual.Requests[k] = max(min(c.Actual.Requests[k], 0), c.Actual.Requests[k]-by)
				c.Actual.Limits[k] = max(min(c.Actual.Limits[k], 0), c.Actual.Limits[k]-by)
			}
		}
	}
}

// wanted is what the container should have, whatever is legal.
func wanted(c sizes.RunningContainer) sizes.Resources {
	to := c.Resources
	for k, target := range c.Size.Target {
		if target < 0 {
			continue
		}
		if limit := c.Size.Limits[k]; limit >= 0 {
			to.Limits[k] = limit
		}
		if to.Requests[k] = target; to.Limits[k] >= 0 {
			to.Requests[k] = min(target, to.Limits[k])
		}
	}
	return to
}

// pod is a Pod that runs, in both languages.
func pod(r *rand.Rand) (ours sizes.Running, theirs *core.Pod) {
	unknown := sizes.Amounts{sizes.None, sizes.None}
	ours = sizes.Running{
		Scheduled: true, Resizable: r.IntN(10) > 0, Static: r.IntN(20) == 0, Node: unknown, Fixed: unknown, Infeasible: unknown,
	}
	theirs = podtest.MakePod("app", podtest.SetResourceVersion("1"), podtest.SetContainers())
	theirs.Status.Phase = core.PodRunning
	kind := r.IntN(3) // of most containers: with limits, equal ones, or none
	for n := range 1 + r.IntN(3) {
		c := sizes.RunningContainer{Resources: sizes.Resources{Requests: unknown, Limits: unknown}, Peak: r.Int64N(2000)}
		c.Size.Target, c.Size.Limits = unknown, unknown
		for k := range c.Requests {
			set(r, &c, k, kind)
		}
		container := podtest.MakeContainer(string(rune('a' + n)))
		container.Resources = requirements(c.Resources)
		status := core.ContainerStatus{Name: container.Name, State: core.ContainerState{Running: &core.ContainerStateRunning{}}}
		if ours.Resizable {
			status.Resources = &container.Resources
		}
		ours.Containers = append(ours.Containers, c)
		theirs.Spec.Containers = append(theirs.Spec.Containers, container)
		theirs.Status.ContainerStatuses = append(theirs.Status.ContainerStatuses, status)
	}
	if ours.Static {
		theirs.Annotations = map[string]string{core.MirrorPodAnnotationKey: "x"}
	}
	ours.Class = map[core.PodQOSClass]sizes.Class{
		core.PodQOSGuaranteed: sizes.Guaranteed, core.PodQOSBurstable: sizes.Burstable, core.PodQOSBestEffort: sizes.BestEffort,
	}[qos.ComputePodQOS(theirs)]
	theirs.Status.QOSClass = qos.ComputePodQOS(theirs)
	return ours, theirs
}

// set gives a container what it has of a resource, and what it should have.
func set(r *rand.Rand, c *sizes.RunningContainer, k, kind int) {
	request, limit := 1+r.Int64N(1000), 1000+r.Int64N(1000)
	if r.IntN(20) == 0 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		c.Requests[k] = request
		if r.IntN(2) == 0 {
			c.Limits[k] = limit
		}
	case 1:
		c.Requests[k], c.Limits[k] = limit, limit
	}
	if r.IntN(10) == 0 {
		return
	}
	c.Size.Target[k] = 1 + r.Int64N(2500)
	if kind == 1 {
		c.Size.Limits[k] = c.Size.Target[k]
	} else if r.IntN(3) == 0 {
		c.Size.Limits[k] = c.Size.Target[k] + r.Int64N(3)
	}
}

func requirements(c sizes.Resources) core.ResourceRequirements {
	return core.ResourceRequirements{Requests: list(c.Requests), Limits: list(c.Limits)}
}

func list(amounts sizes.Amounts) core.ResourceList {
	all := core.ResourceList{}
	if amount := amounts[sizes.CPU]; amount >= 0 {
		all[core.ResourceCPU] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
	}
	if amount := amounts[sizes.Memory]; amount >= 0 {
		all[core.ResourceMemory] = *resource.NewQuantity(amount, resource.BinarySI)
	}
	return all
}
