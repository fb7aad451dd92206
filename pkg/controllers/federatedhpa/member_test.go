// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// fakeMember is a member cluster that runs what it is told, as far as it has room.
type fakeMember struct {
	federatedhpatest.Member
	*federatedhpatest.World

	hidden      *fleet.Silence                              // why Pods cannot be listed, and never were
	autoscalers []autoscalingv2.CrossVersionObjectReference // of HorizontalPodAutoscalers named own
	managedBy   string                                      // whose they are
	late        int                                         // the youngest Pods are not seen yet
	pods        []*fakePod
	created     int   // Pods so far
	room        int   // for Pods; the youngest find none
	more        int32 // how many more Pods it says that it has room for, if roomKnown
	roomKnown   bool
	startup     time.Duration // until a Pod is Ready
	setBy       []metav1.ManagedFieldsEntry
	parallel    bool // its workloads are StatefulSets whose Pods are created at once
}

type fakePod struct {
	name    string
	labels  labels.Set
	created time.Time
}

// newMember runs nothing; the world notes what is written there.
func newMember(w *world, name string) *fakeMember {
	m := &fakeMember{Member: federatedhpatest.NewMember(w.World, name), World: w.World, room: 1 << 30}
	m.Scaled = func(app string, before, after int32) {
		w.wrote = append(w.wrote, fmt.Sprintf("%s %d to %d", name, before, after))
		m.run(app, int(after))
	}
	return m
}

// run makes it so many Pods of an app; those that leave are the youngest.
func (m *fakeMember) run(app string, n int) {
	own := func(p *fakePod) bool { return p.labels["app"] == app }
	have := 0
	m.pods = slices.DeleteFunc(m.pods, func(p *fakePod) bool {
		if own(p) {
			have++
		}
		return own(p) && have > n
	})
	for ; have < n; have++ {
		m.created++
		m.pods = append(m.pods, &fakePod{fmt.Sprintf("%s-%d", app, m.created), labels.Set{"app": app}, m.Clock.Now()})
	}
}

// aged makes all Pods so old that they are Ready.
func (m *fakeMember) aged() {
	for _, p := range m.pods {
		p.created = m.Clock.Now().Add(-time.Hour)
	}
}

func (m *fakeMember) Autoscalers(_ context.Context, namespace string) workload.Autoscalers {
	seen := workload.Autoscalers{Known: true}
	for _, target := range m.autoscalers {
		own := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "own"}}
		own.Spec.ScaleTargetRef = target
		if m.managedBy != "" {
			own.Labels = map[string]string{v1alpha1.ManagedByLabel: m.managedBy}
		}
		seen.Objects = append(seen.Objects, own)
	}
	return seen
}

func (m *fakeMember) Additional(context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured) (int32,
	bool) {
	return m.more, m.roomKnown
}

func (m *fakeMember) Get(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	policy := "OrderedReady"
	if m.parallel {
		policy = "Parallel"
	}
	found := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"podManagementPolicy": policy}}}
	found.SetManagedFields(m.setBy)
	return found, nil
}

func (m *fakeMember) Pods(_ context.Context, _ string, selector labels.Selector) pods.Listing {
	m.Lock()
	defer m.Unlock()
	return m.listing(selector)
}

func (m *fakeMember) listing(selector labels.Selector) pods.Listing {
	if m.hidden != nil {
		return pods.Listing{Silent: m.hidden}
	}
	l := pods.Listing{Known: true, Silent: m.Silent, AsOf: m.Clock.Now()}
	placed := 0
	for _, p := range m.pods[:max(0, len(m.pods)-m.late)] {
		placed++
		if !selector.Matches(p.labels) {
			continue
		}
		if placed > m.room {
			l.Unschedulable++
			if l.UnschedulableSince.IsZero() || p.created.Before(l.UnschedulableSince) {
				l.UnschedulableSince = p.created.Add(m.Offset)
			}
		}
		l.Pods = append(l.Pods, m.observe(p, placed <= m.room))
	}
	slices.SortFunc(l.Pods, func(a, b replicas.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

func (m *fakeMember) observe(p *fakePod, placed bool) replicas.Pod {
	begun := p.created.Add(m.Offset)
	known := replicas.Pod{Name: p.name, Phase: corev1.PodPending, Requests: federatedhpatest.Full}
	switch {
	case !placed:
	case m.Clock.Since(p.created) < m.startup:
		known.Phase, known.Started, known.Ready = corev1.PodRunning, begun, replicas.Ready{Status: corev1.ConditionFalse, Since: begun}
	default:
		known.Phase, known.Started, known.Ready = corev1.PodRunning, begun,
			replicas.Ready{Status: corev1.ConditionTrue, Since: begun.Add(m.startup)}
	}
	return known
}
