// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is one Pod of the workload in a member.
type pod struct {
	number  int // by which it is the younger
	bound   time.Time
	refused time.Time // since when no node can take it
	readyAt time.Time // zero: not yet
	api     *corev1.Pod
}

func (p *pod) isBound() bool { return !p.bound.IsZero() }
func (p *pod) isReady() bool { return !p.readyAt.IsZero() }

var (
	webLabels = map[string]string{"app": "web"}
	podSpec   = corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}}
)

// settle is what a member's other controllers do: the ReplicaSet's, the scheduler, the kubelets.
func (m *member) settle(now time.Time) {
	m.evict()
	m.replicate(now)
	m.schedule(now)
	for _, p := range m.pods {
		if p.isBound() && !p.isReady() && now.Sub(p.bound) >= m.startup {
			p.readyAt = now
			p.api = nil
		}
	}
}

// evict takes away Pods of nodes that are gone.
func (m *member) evict() {
	for m.boundPods() > max(0, m.room) {
		i := slices.IndexFunc(m.pods, (*pod).isBound)
		m.pods = slices.Delete(m.pods, i, i+1)
	}
}

// replicate makes as many Pods as the workload should have. Those go first that are not scheduled, then those that are not
// Ready, then the youngest, as with a ReplicaSet.
func (m *member) replicate(now time.Time) {
	want := 0
	if m.workload != nil {
		want = int(m.workload.replicas)
	}
	if n := len(m.pods) - want; n > 0 {
		slices.SortFunc(m.pods, func(a, b *pod) int {
			return cmp.Or(before(b.isBound(), a.isBound()), before(b.isReady(), a.isReady()), b.readyAt.Compare(a.readyAt),
				cmp.Compare(b.number, a.number))
		})
		m.pods = slices.Clone(m.pods[n:])
		slices.SortFunc(m.pods, func(a, b *pod) int { return cmp.Compare(a.number, b.number) })
	}
	for len(m.pods) < want {
		m.made++
		m.pods = append(m.pods, &pod{number: m.made})
	}
}

// before orders what is true first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// schedule binds Pods, the oldest first, as long as there is room.
func (m *member) schedule(now time.Time) {
	free := m.room - m.boundPods()
	for _, p := range m.pods {
		switch {
		case p.isBound():
		case free > 0:
			p.bound, p.refused, p.api = now, time.Time{}, nil
			free--
		case p.refused.IsZero():
			p.refused, p.api = now, nil
		}
	}
}

func (m *member) boundPods() (n int) {
	for _, p := range m.pods {
		if p.isBound() {
			n++
		}
	}
	return n
}

func (m *member) readyPods() (n int) {
	for _, p := range m.pods {
		if p.isReady() {
			n++
		}
	}
	return n
}

// seen is the Pod as the API server has it.
func (m *member) seen(p *pod) *corev1.Pod {
	if p.api != nil {
		return p.api
	}
	a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.name(), Labels: webLabels}, Spec: podSpec}
	a.Status.Phase = corev1.PodPending
	if p.isBound() {
		started := metav1.NewTime(p.bound)
		ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: started}
		if p.isReady() {
			ready.Status, ready.LastTransitionTime = corev1.ConditionTrue, metav1.NewTime(p.readyAt)
		}
		a.Status.Phase, a.Status.StartTime = corev1.PodRunning, &started
		a.Status.Conditions = []corev1.PodCondition{ready}
	}
	p.api = a
	return a
}

func (p *pod) name() string { return fmt.Sprintf("web-%d", p.number) }
