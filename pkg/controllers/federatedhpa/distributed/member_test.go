// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// member is a cluster that stores autoscalers as an API server does, and runs what it is told, as far as it has room.
type member struct {
	federatedhpatest.Member
	*world
	version string
	// creation is what its registration allows.
	creation registration.Creation

	hidden   *fleet.Silence          // why Pods cannot be listed
	mute     error                   // instead of a scale
	unknown  bool                    // its autoscalers were never listed, and why is known
	unlisted bool                    // they were not, as it began just now
	refuses  func(what string) error // before a write
	// refusesHPA refuses what is in it.
	refusesHPA func(*autoscalingv2.HorizontalPodAutoscaler) error
	// dryOK: a dry run shows nothing of what it refuses.
	dryOK bool
	flaky func() error // before anything; now and then

	hpas      map[string]*stored
	frozen    []*autoscalingv2.HorizontalPodAutoscaler // what the mirror shows instead, if isFrozen
	isFrozen  bool
	frozenFor int  // reconciles
	scales    bool // its autoscalers work
	// steadyAt is what they desire instead of what the metric calls for.
	steadyAt func() int32

	made         *unstructured.Unstructured
	gets         int   // of the workload
	unreadable   error // instead of the workload
	setBy        []any // who set what, of the workload and of autoscalers
	parallel     bool  // it is a StatefulSet whose Pods are created at once
	room         int32 // for replicas
	roomUnknown  bool
	unready      int32 // of those that run
	beyond       int   // Pods more than replicas, as in a rollout
	pendingSince time.Time
	pendingAt    *time.Time // what it says of that instead
	revision     int
}

// stored is an autoscaler, and whether it has a behavior of ours.
type stored struct {
	*autoscalingv2.HorizontalPodAutoscaler
	behaves bool
}

func newMember(w *world, name string) *member {
	m := &member{world: w, Member: federatedhpatest.NewMember(w.World, name), version: "autoscaling/v2", hpas: map[string]*stored{},
		room: 1000, scales: true, creation: registration.Creation{Namespaces: []string{web.Namespace}}}
	m.FailGet, m.Reach = func() error { return cmp.Or(m.asked(), m.mute) }, m.told
	m.Scaled = func(_ string, before, after int32) {
		m.judgeScale(before, after)
		kind := "more"
		if after < before {
			kind = "less"
		}
		m.wrote(kind, "%s to %d", name, after)
		m.placePods()
	}
	return m
}

// deployment is the workload; nil: it lacks it.
func (m *member) deployment() *federatedhpatest.Workload { return m.Workloads[web.Name] }

// deploy makes the workload, as a person does.
func (m *member) deploy(n int32) {
	m.revision++
	m.Workloads[web.Name] = federatedhpatest.NewWorkload(web.Name, n)
	m.Workloads[web.Name].UID = types.UID(fmt.Sprint("workload-", m.revision))
}

func (m *member) undeploy() { delete(m.Workloads, web.Name) }

// add makes an autoscaler, as a person does.
func (m *member) add(name, target string, annotations map[string]string) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	hpa.Namespace, hpa.Name, hpa.UID, hpa.Annotations = web.Namespace, name, m.uid(), annotations
	hpa.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: target}
	hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas = new(int32(3)), 30
	hpa.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(80)}
	m.store(hpa, false)
}

func (m *member) uid() types.UID {
	m.revision++
	return types.UID(fmt.Sprint("hpa-", m.revision))
}

func (m *member) store(hpa *autoscalingv2.HorizontalPodAutoscaler, behaves bool) {
	m.revision++
	hpa = federatedhpatest.ThroughJSON(m.T, hpa)
	hpa.ResourceVersion = strconv.Itoa(m.revision)
	m.hpas[hpa.Name] = &stored{hpa, behaves}
}

// String returns what autoscalers there are, and what runs.
func (m *member) String() string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(m.hpas)) {
		hpa := m.hpas[name]
		text += fmt.Sprintf("%s %d-%d", name, ptr.Deref(hpa.Spec.MinReplicas, 0), hpa.Spec.MaxReplicas)
		if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
			text += " free"
		}
		text += trimmings(hpa.HorizontalPodAutoscaler) + ", "
	}
	if m.deployment() == nil {
		return text + "no workload"
	}
	return fmt.Sprintf("%sruns %d", text, m.deployment().Replicas)
}

func trimmings(hpa *autoscalingv2.HorizontalPodAutoscaler) (text string) {
	if held(hpa) {
		text += " held"
	}
	if b := hpa.Spec.Behavior; b != nil && b.ScaleDown != nil && b.ScaleDown.StabilizationWindowSeconds != nil {
		text += fmt.Sprintf(" waits %d", *b.ScaleDown.StabilizationWindowSeconds)
	}
	return text
}

func (m *member) Creation() registration.Creation { return m.creation }

// asked reports whether a question gets through. The lock is held.
func (m *member) asked() error {
	if m.Silent != nil {
		return m.Silent
	}
	if err := federatedhpatest.Fault(m.flaky); err != nil {
		return err
	}
	_, err := m.reach()
	return err
}

// told reports whether a write gets through, and whether its answer gets back.
func (m *member) told(what string) (through bool, err error) {
	if m.Silent != nil {
		return false, m.Silent
	}
	if err := federatedhpatest.Fault(m.flaky); err != nil {
		return false, err
	}
	if m.refuses != nil {
		if err := m.refuses(what); err != nil {
			return false, err
		}
	}
	return m.reach()
}

func (m *member) Autoscalers(_ context.Context, namespace string) workload.Autoscalers {
	m.Lock()
	defer m.Unlock()
	if err := m.asked(); err != nil && m.Silent == nil || m.unknown {
		return workload.Autoscalers{Silence: federatedhpatest.Silence()}
	}
	if m.unlisted {
		return workload.Autoscalers{}
	}
	seen := workload.Autoscalers{Known: true, Silence: m.Silent, Version: m.version, Objects: m.frozen}
	if !m.isFrozen {
		seen.Objects = m.mirror(namespace)
	}
	return seen
}

// mirror returns what is kept of the autoscalers: of those that are nobody's only what tells whom they could belong to.
func (m *member) mirror(namespace string) []*autoscalingv2.HorizontalPodAutoscaler {
	var all []*autoscalingv2.HorizontalPodAutoscaler
	for _, name := range slices.Sorted(maps.Keys(m.hpas)) {
		if hpa := m.hpas[name]; hpa.Namespace == namespace {
			all = append(all, recordOf(hpa.HorizontalPodAutoscaler))
		}
	}
	return all
}

func recordOf(hpa *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	if hpa.Labels[v1alpha1.ManagedByLabel] != "" {
		return hpa.DeepCopy()
	}
	kept := &autoscalingv2.HorizontalPodAutoscaler{}
	kept.Namespace, kept.Name, kept.UID, kept.Annotations = hpa.Namespace, hpa.Name, hpa.UID, maps.Clone(hpa.Annotations)
	kept.Spec.ScaleTargetRef = hpa.Spec.ScaleTargetRef
	return kept
}

// freeze keeps the mirror as it is now; thaw has it catch up.
func (m *member) freeze() { m.frozen, m.isFrozen = m.mirror(web.Namespace), true }
func (m *member) thaw()   { m.frozen, m.isFrozen, m.frozenFor = nil, false, 0 }

// Apply is a server-side apply with force: what is sent holds, what we sent before and send no more goes, what others wrote
// stays.
func (m *member) Apply(_ context.Context, by claims.Autoscaler,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	m.Lock()
	defer m.Unlock()
	body, err := memberhpa.Encode(hpa, m.version)
	if err != nil {
		return nil, err
	}
	before := m.hpas[hpa.Name]
	if m.refusesHPA != nil {
		if err := m.refusesHPA(hpa); err != nil {
			return nil, err
		}
	}
	if before != nil && !by.Owns(claims.Of(before.HorizontalPodAutoscaler)) {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "horizontalpodautoscalers"}, hpa.Name)
	}
	through, lost := m.told("apply")
	if !through {
		return nil, lost
	}
	m.judgeApply(hpa)
	after := &autoscalingv2.HorizontalPodAutoscaler{}
	if before != nil {
		after = before.DeepCopy()
		delete(after.Labels, v1alpha1.ManagedByLabel)
		if before.behaves {
			after.Spec.Behavior = nil
		}
	} else {
		after.UID = m.uid()
	}
	after.Spec.Metrics = nil
	if after.Spec.Behavior != nil && hpa.Spec.Behavior != nil {
		forgetPolicies(after.Spec.Behavior)
	}
	if err := json.Unmarshal(body, after); err != nil {
		m.T.Error(err)
	}
	if before == nil || !equality.Semantic.DeepEqual(after, before.HorizontalPodAutoscaler) {
		m.store(after, hpa.Spec.Behavior != nil)
	}
	m.noteApply(before, after)
	if lost != nil {
		return nil, lost
	}
	return recordOf(m.hpas[hpa.Name].HorizontalPodAutoscaler), nil
}

// Accepts stores nothing.
func (m *member) Accepts(_ context.Context, _ claims.Autoscaler, hpa *autoscalingv2.HorizontalPodAutoscaler,
	lacking *unstructured.Unstructured) error {
	m.Lock()
	defer m.Unlock()
	if m.dryOK {
		return nil
	}
	if through, lost := m.told("create"); lacking != nil && !through {
		return lost
	}
	if m.refusesHPA != nil {
		if err := m.refusesHPA(hpa); err != nil {
			return err
		}
	}
	_, lost := m.told("apply")
	return lost
}

func forgetPolicies(b *autoscalingv2.HorizontalPodAutoscalerBehavior) {
	for _, rules := range []*autoscalingv2.HPAScalingRules{b.ScaleUp, b.ScaleDown} {
		if rules != nil {
			rules.Policies = nil
		}
	}
}

// noteApply notes a write, as one that gives more or not.
func (m *member) noteApply(before *stored, after *autoscalingv2.HorizontalPodAutoscaler) {
	kind := "less"
	if before == nil || before.Labels[v1alpha1.ManagedByLabel] == "" || before.Spec.MaxReplicas < after.Spec.MaxReplicas {
		kind = "more"
		m.judgeSum()
	}
	free := ""
	if after.Labels[v1alpha1.ManagedByLabel] == "" {
		free = " free"
	}
	m.wrote(kind, "%s %s %d-%d%s%s", m.About.Name, after.Name, ptr.Deref(after.Spec.MinReplicas, 0), after.Spec.MaxReplicas,
		trimmings(after), free)
}

func (m *member) Delete(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	m.Lock()
	defer m.Unlock()
	through, lost := m.told("delete")
	if !through {
		return lost
	}
	if found := m.hpas[hpa.Name]; found != nil && found.UID == hpa.UID {
		m.judgeDelete(found.HorizontalPodAutoscaler)
		delete(m.hpas, hpa.Name)
		m.wrote("less", "%s delete %s", m.About.Name, hpa.Name)
	} else {
		m.wrote("less", "%s delete %s, which is gone", m.About.Name, hpa.Name)
	}
	return lost
}

// run sets the replicas.
func (m *member) run(n int32) {
	d := m.deployment()
	d.ByHand(n)
	d.StatusReplicas = n
	m.placePods()
}

// placePods notes since when Pods have found no node.
func (m *member) placePods() {
	switch {
	case m.deployment() == nil || m.deployment().Replicas <= m.room:
		m.pendingSince = time.Time{}
	case m.pendingSince.IsZero():
		m.pendingSince = m.Clock.Now().Add(m.Offset)
	}
}

func (m *member) Pods(_ context.Context, _ string, selector labels.Selector) pods.Listing {
	m.Lock()
	defer m.Unlock()
	if err := m.asked(); err != nil && m.Silent == nil {
		return pods.Listing{Silent: federatedhpatest.Silence()}
	}
	l := pods.Listing{Known: true, Silent: cmp.Or(m.hidden, m.Silent), AsOf: m.Clock.Now()}
	if m.deployment() == nil || !selector.Matches(labels.Set{"app": "web"}) {
		return l
	}
	m.placePods()
	n := m.deployment().Replicas
	for i := range int(n) + m.beyond {
		p := replicas.Pod{Name: fmt.Sprintf("web-%04d", i), Phase: corev1.PodPending}
		if int32(i) < m.room {
			p.Phase, p.Ready.Status = corev1.PodRunning, corev1.ConditionTrue
			if int32(i) < m.unready {
				p.Ready.Status = corev1.ConditionFalse
			}
		}
		l.Pods = append(l.Pods, p)
	}
	l.Unschedulable = max(0, int(n)+m.beyond-int(m.room))
	l.UnschedulableSince = m.pendingSince
	if m.pendingAt != nil {
		l.UnschedulableSince = *m.pendingAt
	}
	return l
}

func (m *member) Additional(_ context.Context, _ string, _ autoscalingv2.CrossVersionObjectReference,
	made *unstructured.Unstructured) (int32, bool) {
	m.Lock()
	defer m.Unlock()
	if (made == nil) != (m.deployment() != nil) {
		m.T.Errorf("%s: room is asked for %v, and there runs %v", m.About.Name, made, m.deployment())
	}
	if m.asked() != nil || m.roomUnknown {
		return 0, false
	}
	if m.deployment() == nil {
		return m.room, true
	}
	return max(0, m.room-m.deployment().Replicas), true
}

func (m *member) Get(_ context.Context, _ string, of autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	m.Lock()
	defer m.Unlock()
	if err := m.asked(); err != nil {
		return nil, err
	}
	if of.Kind == "HorizontalPodAutoscaler" {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"managedFields": m.setBy}}}, nil
	}
	m.gets++
	if err := cmp.Or(m.mute, m.unreadable); err != nil {
		return nil, err
	}
	if m.deployment() == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, of.Name)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	u.SetNamespace(web.Namespace)
	u.SetName(of.Name)
	u.SetUID(m.deployment().UID)
	u.SetLabels(m.deployment().Labels)
	if m.setBy != nil {
		u.Object["metadata"].(map[string]any)["managedFields"] = m.setBy
	}
	if m.parallel {
		u.Object["spec"] = map[string]any{"podManagementPolicy": "Parallel"}
	}
	return u, nil
}

func (m *member) Create(_ context.Context, made *unstructured.Unstructured) error {
	m.Lock()
	defer m.Unlock()
	through, lost := m.told("create")
	if !through {
		return lost
	}
	n, _, _ := unstructured.NestedInt64(made.Object, "spec", "replicas")
	m.wrote("more", "%s make %d", m.About.Name, n)
	if m.deployment() != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, made.GetName())
	}
	m.judgeCreate(made, int32(n))
	m.made = made
	m.deploy(int32(n))
	m.deployment().Labels = made.GetLabels()
	m.placePods()
	return lost
}

func (m *member) Remove(_ context.Context, of *unstructured.Unstructured) error {
	m.Lock()
	defer m.Unlock()
	through, lost := m.told("remove")
	if !through {
		return lost
	}
	m.wrote("remove", "%s remove %s", m.About.Name, of.GetName())
	if m.deployment() == nil || m.deployment().UID != of.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{}, of.GetName(), fmt.Errorf("it is not that one"))
	}
	if m.deployment().Labels[v1alpha1.ManagedByLabel] != "uid-of-web" {
		m.T.Errorf("%s: a workload that others made is deleted", m.About.Name)
	}
	m.undeploy()
	return lost
}
