// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// FuzzRequests: a Pod takes what the spec and the status say together, though the status is nearly always passed over.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		p := randomSizes(rand.New(rand.NewPCG(seed, 0)))
		both := resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
		if got, want := PodOf(p).Requests, requestsOf(p, both); got != want {
			t.Errorf("%+v takes %+v, want %+v", p, got, want)
		}
	})
}

func TestResized(t *testing.T) {
	resized, not := 0, 0
	for seed := range uint64(500) {
		p := randomSizes(rand.New(rand.NewPCG(seed, 0)))
		if requestsOf(p, resourcehelper.PodResourcesOptions{}) != PodOf(p).Requests {
			resized++
		} else if len(p.Status.ContainerStatuses) > 0 {
			not++
		}
	}
	if resized < 50 || not < 50 {
		t.Errorf("%d Pods take more than the spec says, and %d with a status what it says: the test is worth little", resized, not)
	}
}

// randomSizes is a Pod whose status may tell of other sizes, or of the same.
func randomSizes(d *rand.Rand) *corev1.Pod {
	size := func() corev1.ResourceList {
		if d.IntN(4) == 0 {
			return nil
		}
		l := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "example.com/gpu"} {
			if d.IntN(3) > 0 {
				l[name] = *resource.NewQuantity(1+d.Int64N(2), resource.DecimalSI)
			}
		}
		return l
	}
	sameOr := func(l corev1.ResourceList) corev1.ResourceList {
		if d.IntN(8) > 0 {
			return l.DeepCopy()
		}
		return size()
	}
	p := &corev1.Pod{}
	p.Spec.NodeName = "node0"
	add := func(name string, to *[]corev1.Container, statuses *[]corev1.ContainerStatus) {
		c := corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: size()}}
		if d.IntN(2) == 0 {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		*to = append(*to, c)
		if d.IntN(4) > 0 {
			s := corev1.ContainerStatus{Name: name, AllocatedResources: sameOr(c.Resources.Requests)}
			if d.IntN(2) == 0 {
				s.Resources = &corev1.ResourceRequirements{Requests: sameOr(c.Resources.Requests)}
			}
			*statuses = append(*statuses, s)
		}
	}
	add("app", &p.Spec.Containers, &p.Status.ContainerStatuses)
	if d.IntN(2) == 0 {
		add("proxy", &p.Spec.Containers, &p.Status.ContainerStatuses)
	}
	if d.IntN(2) == 0 {
		add("init", &p.Spec.InitContainers, &p.Status.InitContainerStatuses)
	}
	if d.IntN(8) == 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
	}
	if d.IntN(8) == 0 {
		p.Status.AllocatedResources, p.Status.Resources = size(), &corev1.ResourceRequirements{Requests: size()}
	}
	if d.IntN(8) == 0 {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: size()}
	}
	return p
}
