// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpa "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/updater/priority"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// TestOrder compares which Pods are to change, and the most urgent first, with VPA's updater. Its order of equals is any:
// so the urgency at each place is compared, and then who is there at all.
func TestOrder(t *testing.T) {
	passes, seed := 50_000, rand.Uint64N(1<<32)
	if testing.Short() {
		passes, seed = 5_000, 1
	}
	pods, candidates := 0, 0
	for first := seed; seed < first+uint64(passes) && !t.Failed(); seed++ {
		c := newCrowd(seed)
		got, want := c.ours(), c.theirs()
		pods, candidates = pods+len(c.pods), candidates+len(want.names)
		if !slices.Equal(got.urgency, want.urgency) {
			t.Errorf("crowd %d: urgencies %v, want %v", seed, got.urgency, want.urgency)
		}
		slices.Sort(got.names)
		slices.Sort(want.names)
		if !slices.Equal(got.names, want.names) {
			t.Errorf("crowd %d: Pods %v, want %v", seed, got.names, want.names)
		}
	}
	t.Logf("%d passes from %d: %d pods, %d of them to change", passes, seed-uint64(passes), pods, candidates)
	if candidates == 0 || candidates == pods {
		t.Error("all Pods are the same")
	}
}

// urgency is why a Pod stands where it stands.
type urgency struct {
	grows      bool
	difference float64
}

type order struct {
	names   []string
	urgency []urgency
}

// crowd are Pods that are to be changed, or not, in both languages.
type crowd struct {
	now            time.Time
	pods           []sizes.Running
	theirPods      []*corev1.Pod
	recommendation map[string]*vpa.RecommendedPodResources // by Pod
}

func newCrowd(seed uint64) *crowd {
	r := rand.New(rand.NewPCG(seed, 5))
	c := &crowd{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), recommendation: map[string]*vpa.RecommendedPodResources{}}
	values := int64([]int{3, 20, 100000}[r.IntN(3)]) // few: many are equal
	containers := 1 + r.IntN(3)
	for n := range 1 + r.IntN(20) {
		pod := sizes.Running{Name: name(n)}
		their := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}}
		if r.IntN(10) > 0 {
			pod.Started = c.now.Add(-time.Duration(r.IntN(5)) * 6 * time.Hour)
			their.Status.StartTime = &metav1.Time{Time: pod.Started}
		}
		recommended := &vpa.RecommendedPodResources{}
		for k := range containers {
			our, container, recommendation := c.container(r, name(k), values)
			pod.Containers = append(pod.Containers, our)
			their.Spec.Containers = append(their.Spec.Containers, container)
			if recommendation != nil {
				recommended.ContainerRecommendations = append(recommended.ContainerRecommendations, *recommendation)
			}
			status := corev1.ContainerStatus{Name: name(k)}
			if our.QuickOOM {
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
					Reason: "OOMKilled", StartedAt: metav1.NewTime(c.now.Add(-2 * time.Minute)), FinishedAt: metav1.NewTime(c.now.Add(-time.Minute)),
				}
			}
			their.Status.ContainerStatuses = append(their.Status.ContainerStatuses, status)
		}
		c.pods, c.theirPods, c.recommendation[pod.Name] = append(c.pods, pod), append(c.theirPods, their), recommended
	}
	return c
}

// container has a request or none, and is advised or not.
func (c *crowd) container(r *rand.Rand, name string, values int64) (
	our sizes.RunningContainer, their corev1.Container, recommendation *vpa.RecommendedContainerResources,
) {
	unknown := sizes.Amounts{sizes.None, sizes.None}
	our = sizes.RunningContainer{Name: name, QuickOOM: r.IntN(20) == 0}
	our.Requests, our.Size.Target, our.Size.Lower, our.Size.Upper = unknown, unknown, unknown, unknown
	their = corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	if r.IntN(10) > 0 {
		recommendation = &vpa.RecommendedContainerResources{ContainerName: name, Target: corev1.ResourceList{}}
		recommendation.LowerBound, recommendation.UpperBound = corev1.ResourceList{}, corev1.ResourceList{}
	}
	for k, resourceName := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		set := func(ours *int64, theirs corev1.ResourceList, amount int64) {
			*ours = amount
			if k == int(sizes.CPU) {
				theirs[resourceName] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
			} else {
				theirs[resourceName] = *resource.NewQuantity(amount, resource.BinarySI)
			}
		}
		if r.IntN(20) > 0 {
			set(&our.Requests[k], their.Resources.Requests, 10+r.Int64N(values))
		}
		if recommendation == nil || r.IntN(20) == 0 {
			continue
		}
		target := 10 + r.Int64N(values)
		if r.IntN(3) == 0 {
			target = max(0, our.Requests[k])
		}
		set(&our.Size.Target[k], recommendation.Target, target)
		if r.IntN(10) > 0 {
			set(&our.Size.Lower[k], recommendation.LowerBound, target/(1+r.Int64N(3)))
		}
		if r.IntN(10) > 0 {
			set(&our.Size.Upper[k], recommendation.UpperBound, target*(1+r.Int64N(3)))
		}
	}
	return our, their, recommendation
}

func (c *crowd) ours() (o order) {
	for _, candidate := range sizes.Candidates(c.pods, c.now) {
		o.names = append(o.names, candidate.Pod.Name)
		o.urgency = append(o.urgency, urgency{candidate.Grows, candidate.Difference})
	}
	return o
}

func (c *crowd) theirs() (o order) {
	object := &vpa.VerticalPodAutoscaler{}
	processor := priority.NewProcessor()
	calculator := priority.NewUpdatePriorityCalculator(object,
		priority.UpdateConfig{MinChangePriority: 0.1, PodLifetimeUpdateThreshold: 12 * time.Hour, EvictAfterOOMThreshold: 10 * time.Minute},
		c, processor)
	for _, pod := range c.theirPods {
		calculator.AddPod(pod, c.now, nil)
	}
	for _, pod := range calculator.GetSortedPods(priority.NewDefaultPodEvictionAdmission()) {
		p := processor.GetUpdatePriority(pod, object, c.recommendation[pod.Name])
		o.names = append(o.names, pod.Name)
		o.urgency = append(o.urgency, urgency{p.ScaleUp, p.ResourceDiff})
	}
	return o
}

// Apply gives the recommendation for a Pod as it is: VPA would cap it first, which is not compared here.
func (c *crowd) Apply(_ *vpa.VerticalPodAutoscaler, pod *corev1.Pod) (*vpa.RecommendedPodResources, map[string][]string, error) {
	return c.recommendation[pod.Name], nil, nil
}
