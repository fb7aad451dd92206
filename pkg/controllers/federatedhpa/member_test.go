// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// fakeMember is a member cluster that runs what it is told, as far as it has room.
type fakeMember struct {
	workload.Cluster // what central mode does not ask for

	facts assignment.ClusterFacts
	clock clock.PassiveClock

	mu          sync.Mutex
	offset      time.Duration
	silence     *fleet.Silence
	joining     bool
	hidden      *fleet.Silence                              // why Pods cannot be listed, and never were
	autoscalers []autoscalingv2.CrossVersionObjectReference // of HorizontalPodAutoscalers named own
	managedBy   string                                      // whose they are
	late        int                                         // the youngest Pods are not seen yet
	workloads   map[string]*fakeWorkload                    // by name
	pods        []*fakePod
	created     int   // Pods so far
	room        int   // for Pods; the youngest find none
	more        int32 // how many more Pods it says that it has room for, if roomKnown
	roomKnown   bool
	headroom    int32
	startup     time.Duration // until a Pod is Ready
	setBy       []metav1.ManagedFieldsEntry
	parallel    bool         // its workloads are StatefulSets whose Pods are created at once
	failGet     func() error // before a scale is read
	failSet     func() error // before one is written
	gets        int
	order       func(string) // hears of writes
}

type fakePod struct {
	name    string
	labels  labels.Set
	created time.Time
}

func newMember(name string, clock clock.PassiveClock) *fakeMember {
	return &fakeMember{facts: assignment.ClusterFacts{Name: name}, clock: clock, workloads: map[string]*fakeWorkload{}, room: 1 << 30}
}

// full is what every Pod of the tests requests: a core.
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
		m.pods = append(m.pods, &fakePod{fmt.Sprintf("%s-%d", app, m.created), labels.Set{"app": app}, m.clock.Now()})
	}
}

// aged makes all Pods so old that they are Ready.
func (m *fakeMember) aged() {
	for _, p := range m.pods {
		p.created = m.clock.Now().Add(-time.Hour)
	}
}

func (m *fakeMember) Facts() assignment.ClusterFacts { return m.facts }
func (m *fakeMember) Headroom() int32                { return m.headroom }
func (m *fakeMember) Joining() bool                  { return m.joining }
func (m *fakeMember) ClockOffset() time.Duration     { return m.offset }
func (m *fakeMember) Silence() *fleet.Silence        { return m.silence }

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
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hidden != nil {
		return pods.Listing{Silent: m.hidden}
	}
	l := pods.Listing{Known: true, Silent: m.silence, AsOf: m.clock.Now()}
	placed := 0
	for _, p := range m.pods[:max(0, len(m.pods)-m.late)] {
		placed++
		if !selector.Matches(p.labels) {
			continue
		}
		if placed > m.room {
			l.Unschedulable++
			if l.UnschedulableSince.IsZero() || p.created.Before(l.UnschedulableSince) {
				l.UnschedulableSince = p.created.Add(m.offset)
			}
		}
		l.Pods = append(l.Pods, m.observe(p, placed <= m.room))
	}
	slices.SortFunc(l.Pods, func(a, b replicas.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

func (m *fakeMember) observe(p *fakePod, placed bool) replicas.Pod {
	begun := p.created.Add(m.offset)
	known := replicas.Pod{Name: p.name, Phase: corev1.PodPending, Requests: federatedhpatest.Full}
	switch {
	case !placed:
	case m.clock.Since(p.created) < m.startup:
		known.Phase, known.Started, known.Ready = corev1.PodRunning, begun, replicas.Ready{Status: corev1.ConditionFalse, Since: begun}
	default:
		known.Phase, known.Started, known.Ready = corev1.PodRunning, begun,
			replicas.Ready{Status: corev1.ConditionTrue, Since: begun.Add(m.startup)}
	}
	return known
}

func (m *fakeMember) Scale(_ context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale,
	error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	if m.failGet != nil {
		if err := m.failGet(); err != nil {
			return nil, err
		}
	}
	w := m.workloads[of.Name]
	if w == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: strings.ToLower(of.Kind) + "s"}, of.Name)
	}
	return w.scale(namespace, of.Name), nil
}

func (m *fakeMember) SetScale(_ context.Context, of autoscalingv2.CrossVersionObjectReference, to *autoscalingv1.Scale) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failSet != nil {
		if err := m.failSet(); err != nil {
			return err
		}
	}
	w := m.workloads[of.Name]
	if w == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, of.Name)
	}
	before := w.replicas
	if err := w.set(to); err != nil {
		return err
	}
	m.order(fmt.Sprintf("%s %d to %d", m.facts.Name, before, w.replicas))
	w.statusReplicas = w.replicas
	m.run(of.Name, int(w.replicas))
	return nil
}
