// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	fleets "github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// api is a member as the hub reaches it.
type api struct {
	workload.Cluster // what the mode does not ask for

	m *member
}

var _ workload.Cluster = api{}

var (
	deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}
	autoscalers = schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	requests    = replicas.RequestsOf(&podSpec)
)

func versionOf(n int) string { return strconv.Itoa(n) }

func silence() *fleets.Silence {
	return &fleets.Silence{Reason: fleets.ReasonTimeout, Detail: "no answer within the deadline"}
}

func (a api) Facts() assignment.ClusterFacts {
	return assignment.ClusterFacts{Name: a.m.name, Labels: a.m.labels, Provider: a.m.provider, Region: a.m.region, Taints: a.m.taints()}
}

func (a api) Headroom() int32 { return 0 }

func (a api) ClockOffset() time.Duration { return 0 }

func (a api) Joining() bool { return false }

func (a api) Creation() registration.Creation {
	return registration.Creation{Namespaces: []string{registration.AllNamespaces}}
}

func (a api) Silence() *fleets.Silence {
	if a.m.trouble == away {
		return silence()
	}
	return nil
}

// ask returns why a call is not answered. It may take as long as the caller waits.
func (a api) ask(ctx context.Context) error {
	switch {
	case a.m.fleet.isDead():
		return context.Canceled
	case a.m.trouble == away:
		return silence()
	case a.m.trouble == hanging:
		<-ctx.Done()
		return ctx.Err()
	}
	return ctx.Err()
}

// write returns why a write is not done; if it is to be done, the world is locked.
func (a api) write(ctx context.Context, gr schema.GroupResource) error {
	if err := a.ask(ctx); err != nil {
		return err
	}
	f := a.m.fleet
	f.lock.Lock()
	switch {
	case f.crash != nil && f.crash.lost[a.m.name]:
		f.lock.Unlock()
		return context.Canceled
	case a.m.refuses:
		f.judge.refused(a.m)
		f.lock.Unlock()
		return apierrors.NewForbidden(gr, name, nil)
	}
	f.judge.writes(a.m, gr)
	return nil
}

// balk returns why the workload is not scaled, whatever else may be written.
func (a api) balk(ctx context.Context) error {
	if err := a.ask(ctx); err != nil {
		return err
	}
	f := a.m.fleet
	f.lock.Lock()
	defer f.lock.Unlock()
	if !a.m.balks && !f.ambush {
		return nil
	}
	f.ambushed = f.ambushed || f.ambush
	f.judge.troubled()
	return apierrors.NewForbidden(deployments, name, nil)
}

func (a api) Pods(_ context.Context, _ string, selector labels.Selector) pods.Listing {
	m := a.m
	l := pods.Listing{Known: true, AsOf: time.Now()}
	if m.trouble != well && m.trouble != hpasLost {
		l.Silent = silence()
	}
	if !selector.Matches(labels.Set(webLabels)) {
		m.fleet.judge.fail("Pods are asked for by %s", selector)
	}
	for _, p := range m.pods {
		l.Pods = append(l.Pods, p.record())
		if p.isBound() {
			continue
		}
		l.Unschedulable++
		if l.UnschedulableSince.IsZero() || p.refused.Before(l.UnschedulableSince) {
			l.UnschedulableSince = p.refused
		}
	}
	slices.SortFunc(l.Pods, func(a, b replicas.Pod) int { return compareStrings(a.Name, b.Name) })
	return l
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (p *pod) record() replicas.Pod {
	known := replicas.Pod{Name: p.name(), Phase: corev1.PodPending, Requests: requests}
	if p.isBound() {
		known.Phase, known.Started, known.Ready = corev1.PodRunning, p.bound, replicas.Ready{Status: corev1.ConditionFalse, Since: p.bound}
	}
	if p.isReady() {
		known.Ready = replicas.Ready{Status: corev1.ConditionTrue, Since: p.readyAt}
	}
	return known
}

func (a api) Additional(context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured) (int32, bool) {
	return int32(max(0, a.m.room-a.m.boundPods())), a.m.roomKnown
}

func (a api) Scale(ctx context.Context, _ string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	if err := a.ask(ctx); err != nil {
		return nil, err
	}
	if of != target {
		a.m.fleet.judge.fail("the scale of %v is asked for", of)
	}
	a.m.fleet.lock.Lock()
	defer a.m.fleet.lock.Unlock()
	return a.m.scale(deployments)
}

func (a api) SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, to *autoscalingv1.Scale) error {
	if err := a.balk(ctx); err != nil {
		return err
	}
	if err := a.write(ctx, deployments); err != nil {
		return err
	}
	m := a.m
	defer m.fleet.lock.Unlock()
	from := m.replicas()
	if err := m.setScale(deployments, to); err != nil {
		return err
	}
	m.fleet.judge.scaled(m, from, to.Spec.Replicas)
	return nil
}

func (a api) Get(ctx context.Context, _ string, _ autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	if err := a.ask(ctx); err != nil {
		return nil, err
	}
	w := a.m.workload
	if w == nil {
		return nil, apierrors.NewNotFound(deployments, name)
	}
	o := templateWithReplicas(w.replicas)
	o.SetLabels(w.labels)
	o.SetUID(w.uid)
	o.SetResourceVersion(versionOf(w.version))
	return o, nil
}

func (a api) Create(ctx context.Context, o *unstructured.Unstructured) error {
	if err := a.write(ctx, deployments); err != nil {
		return err
	}
	m := a.m
	defer m.fleet.lock.Unlock()
	if m.workload != nil {
		return apierrors.NewAlreadyExists(deployments, name)
	}
	n, found, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found || err != nil {
		m.fleet.judge.fail("%s: a workload is made without replicas: %v", m.name, o.Object["spec"])
		n = 1
	}
	m.workload = &deployment{uid: m.nextUID(), version: 1, replicas: int32(n), labels: o.GetLabels()}
	m.fleet.judge.made(m, o)
	return nil
}

func (a api) Remove(ctx context.Context, o *unstructured.Unstructured) error {
	if err := a.write(ctx, deployments); err != nil {
		return err
	}
	m := a.m
	defer m.fleet.lock.Unlock()
	if m.workload == nil {
		return nil
	}
	if o.GetUID() != m.workload.uid || o.GetResourceVersion() != versionOf(m.workload.version) {
		return apierrors.NewConflict(deployments, name, nil)
	}
	m.fleet.judge.removed(m)
	m.workload = nil
	return nil
}

// Autoscalers are listed as they are, or as they were before the last writes.
func (a api) Autoscalers(_ context.Context, _ string) workload.Autoscalers {
	m := a.m
	m.fleet.lock.Lock()
	defer m.fleet.lock.Unlock()
	list := workload.Autoscalers{Known: true, Version: m.version}
	if m.trouble != well && m.trouble != podsLost {
		list.Silence = silence()
	}
	if list.Objects = m.old; m.old == nil {
		list.Objects = m.listing()
	}
	return list
}

// listing returns what a mirror keeps.
func (m *member) listing() []*autoscalingv2.HorizontalPodAutoscaler {
	all, list := m.stored(), []*autoscalingv2.HorizontalPodAutoscaler{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		hpa := all[key].DeepCopy()
		if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
			kept := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hpa.Name, UID: hpa.UID,
				Annotations: hpa.Annotations}}
			kept.Spec.ScaleTargetRef = hpa.Spec.ScaleTargetRef
			hpa = kept
		}
		list = append(list, hpa)
	}
	return list
}

func (a api) Apply(ctx context.Context, _ claims.Autoscaler,
	wanted *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	if err := a.write(ctx, autoscalers); err != nil {
		return nil, err
	}
	m := a.m
	defer m.fleet.lock.Unlock()
	stored := m.stored()[wanted.Name]
	after := &autoscalingv2.HorizontalPodAutoscaler{}
	if stored == nil {
		after.Namespace, after.Name, after.UID, after.Generation = namespace, wanted.Name, m.nextUID(), 0
		after.CreationTimestamp = metav1.Now()
	} else {
		after = stored.DeepCopy()
	}
	former := m.applied[wanted.Name]
	after.Labels, after.Annotations = laidOver(after.Labels, former.Labels, wanted.Labels),
		laidOver(after.Annotations, former.Annotations, wanted.Annotations)
	m.applied[wanted.Name] = *wanted.ObjectMeta.DeepCopy()
	after.Spec = *wanted.Spec.DeepCopy()
	m.asVersion(&after.Spec)
	if err := m.complete(after); err != nil {
		m.fleet.judge.fail("P2: the API server of %s refuses an autoscaler: %v", m.name, err)
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, name, nil)
	}
	changes := stored == nil || !equality.Semantic.DeepEqual(after.Spec, stored.Spec) ||
		!maps.Equal(after.Labels, stored.Labels) || !maps.Equal(after.Annotations, stored.Annotations)
	if changes {
		m.made++
		after.Generation++
		after.ResourceVersion = versionOf(m.made)
	}
	m.fleet.judge.applied(m, stored, after, changes)
	m.put(after)
	m.touched = true
	return after.DeepCopy(), nil
}

// Accepts stores nothing.
func (a api) Accepts(ctx context.Context, _ claims.Autoscaler, _ *autoscalingv2.HorizontalPodAutoscaler,
	_ *unstructured.Unstructured) error {
	if err := a.ask(ctx); err != nil {
		return err
	}
	a.m.fleet.lock.Lock()
	defer a.m.fleet.lock.Unlock()
	if a.m.refuses {
		a.m.fleet.judge.refused(a.m)
		return apierrors.NewForbidden(autoscalers, name, nil)
	}
	a.m.fleet.judge.accepts(a.m)
	return nil
}

// asVersion drops what the member does not know.
func (m *member) asVersion(spec *autoscalingv2.HorizontalPodAutoscalerSpec) {
	if b := spec.Behavior; b != nil && m.version != autoscalingv2.SchemeGroupVersion.String() {
		for _, rules := range []*autoscalingv2.HPAScalingRules{b.ScaleUp, b.ScaleDown} {
			if rules != nil {
				rules.Tolerance = nil
			}
		}
	}
}

func (a api) Delete(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	if err := a.write(ctx, autoscalers); err != nil {
		return err
	}
	m := a.m
	defer m.fleet.lock.Unlock()
	stored := m.stored()[hpa.Name]
	if stored == nil || stored.UID != hpa.UID {
		m.fleet.judge.deletedNothing(m)
		return nil
	}
	m.fleet.judge.deleted(m, stored)
	m.drop(stored)
	return nil
}

// template is the workload on the hub.
func templateWithReplicas(n int32) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": target.APIVersion, "kind": target.Kind,
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec":     map[string]any{"replicas": int64(n), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}},
	}}
}
