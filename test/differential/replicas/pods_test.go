// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var webLabels = map[string]string{"app": "web"}

// template returns what a Pod of the workload should look like.
func template() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{container("app", "500m")}}
}

func container(name, cpu string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("100m")}}}
}

// redraw makes the Pods again: about as many as there should be.
func (w *world) redraw(d dice, now time.Time) {
	w.pods, w.uncreated, w.drained = nil, map[int]int{}, -1
	n := int(w.target.replicas)
	switch {
	case d.oneIn(4):
		n += d.between(-5, 5)
	case d.oneIn(20):
		n = 0
	}
	calm, local := d.oneIn(3), map[int]int{}
	for range n {
		cluster := d.IntN(w.clusters)
		p := d.pod(cluster, local[cluster], calm, now)
		if w.clusters == 1 {
			p.local = p.Name // as messages name it
		}
		w.pods = append(w.pods, p)
		local[cluster]++
	}
	w.perturb(d)
}

// perturb drains a cluster or leaves it behind its assignment, if there are several; or breaks a Pod, if there is one.
func (w *world) perturb(d dice) {
	switch {
	case len(w.pods) == 0:
	case w.clusters > 1 && d.oneIn(3):
		w.drained = d.IntN(w.clusters)
	case w.clusters > 1 && d.oneIn(3) && w.selects() > 0: // with none at all, only Pending ones would be Pods to the controller
		w.uncreated[d.IntN(w.clusters)] = d.between(1, 5)
	case w.clusters == 1 && d.oneIn(8) && !w.asksForRareContainer():
		d.breakRequests(&w.pods[d.IntN(len(w.pods))].Spec)
	}
}

// asksForRareContainer reports whether most Pods are faulty as they are, by a container that they do not have.
func (w *world) asksForRareContainer() bool {
	return slices.ContainsFunc(w.hpa.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
		return m.ContainerResource != nil && m.ContainerResource.Container != "app"
	})
}

// selects is the number of Pods that the workload's selector matches.
func (w *world) selects() int {
	n := 0
	for _, p := range w.pods {
		if w.selected(p) {
			n++
		}
	}
	return n
}

func (w *world) selected(p pod) bool { return p.Labels["app"] == webLabels["app"] }

func (d dice) pod(cluster, i int, calm bool, now time.Time) pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: unionName(cluster, "web-", i), Labels: webLabels}}
	p.Spec, p.Status.Phase = template(), corev1.PodRunning
	started := metav1.NewTime(now.Add(-time.Hour))
	p.Status.StartTime = &started
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started}}
	if !calm {
		d.disturb(p, now)
	}
	return pod{Pod: p, cluster: cluster, local: p.Name[len(unionName(cluster, "", 0))-1:]}
}

// disturb makes the Pod something else than one that has run well for an hour.
func (d dice) disturb(p *corev1.Pod, now time.Time) {
	ready := &p.Status.Conditions[0]
	ago := func() metav1.Time { // often at the very bound of a rule
		return metav1.NewTime(now.Add(-of(d, 0, 15*time.Second, 30*time.Second, time.Minute, 5*time.Minute-1, 5*time.Minute, 5*time.Minute+1,
			6*time.Minute)))
	}
	if d.oneIn(3) {
		started := ago()
		p.Status.StartTime = &started
		ready.LastTransitionTime = of(d, ago(), metav1.NewTime(started.Add(of(d, 30*time.Second-1, 30*time.Second, 30*time.Second+1))))
		ready.Status = of(d, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionFalse)
	}
	switch d.IntN(24) {
	case 0, 1:
		p.Status.Phase = corev1.PodPending
	case 2:
		p.Status.Phase = of(d, corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown)
	case 3:
		p.DeletionTimestamp = new(metav1.NewTime(now))
	case 4:
		p.Status.Conditions = nil
	case 5:
		p.Status.StartTime = nil
	case 6, 7:
		ready.Status = of(d, corev1.ConditionFalse, corev1.ConditionUnknown)
	case 8:
		p.Labels = map[string]string{"app": "another"}
	case 9, 10:
		d.furnish(&p.Spec)
	}
}

// furnish gives the Pod more to request than its container does.
func (d dice) furnish(s *corev1.PodSpec) {
	always := corev1.ContainerRestartPolicyAlways
	if d.oneIn(2) {
		first := container("first", of(d, "10m", "3"))
		s.InitContainers = append(s.InitContainers, first)
	}
	if d.oneIn(2) {
		sidecar := container("sidecar", "100m")
		sidecar.RestartPolicy = &always
		s.InitContainers = append(s.InitContainers, sidecar, container("last", of(d, "10m", "550m", "3")))
	}
	if d.oneIn(2) {
		s.Containers = append(s.Containers, container("proxy", of(d, "0", "50m", "1500u")))
	}
	if d.oneIn(2) {
		s.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m")}
	}
	if d.oneIn(2) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
			of(d, corev1.ResourceCPU, corev1.ResourceMemory, "hugepages-2Mi", "example.com/gpu"): resource.MustParse(of(d, "2", "100m"))}}
	}
}

// breakRequests leaves a request out. Only one Pod is ever broken: which of several is named is the controller's luck.
func (d dice) breakRequests(s *corev1.PodSpec) {
	switch d.IntN(3) {
	case 0:
		delete(s.Containers[0].Resources.Requests, corev1.ResourceCPU)
	case 1:
		s.Containers = append(s.Containers, corev1.Container{Name: "sidecar"})
	default:
		s.Containers[0].Name = "renamed"
		s.Containers[0].Resources.Requests = nil
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2")}}
	}
}
