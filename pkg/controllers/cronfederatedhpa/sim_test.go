// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// errCrashed is what a program sees of the hub that has ended: nothing.
var errCrashed = errors.New("the program has ended")

var key = client.ObjectKey{Namespace: "shop", Name: "cron"}

// sim is a hub, a clock, and the programs that run on them. One call to the
// hub after the other can be made to fail, before or after it took effect.
type sim struct {
	t      testing.TB
	clock  *clocktesting.FakePassiveClock
	store  *memory // the hub itself
	mapper meta.RESTMapper
	random *rand.Rand
	calls  int // to the hub, by programs
	// before is asked before each call, and after once it took effect; an
	// error is what the program gets.
	before, after func(call int) error
	stale         func() bool // the cache shows the object as it was a change ago
	seen, former  *v1alpha1.CronFederatedHPA
	log           ledger
	webhook       bool // keeps the copy of the fields
}

func newSim(t testing.TB, start time.Time, objects ...client.Object) *sim {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return &sim{t: t, mapper: mapper, clock: clocktesting.NewFakePassiveClock(start), store: newMemory(objects...),
		log: ledger{byRun: map[runKey]int{}}}
}

// call runs one call of a program to the hub.
func (s *sim) call(do func() error) error {
	n := s.calls
	s.calls++
	if s.before != nil {
		if err := s.before(n); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if s.after != nil {
		return s.after(n)
	}
	return nil
}

// program starts a controller, which remembers nothing.
func (s *sim) program() *Reconciler {
	hub := interceptor.NewClient(s.store, interceptor.Funcs{
		Get: s.get,
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return s.call(func() error { return s.setTarget(func() error { return c.Patch(ctx, obj, patch, opts...) }) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object,
			opts ...client.SubResourceUpdateOption) error {
			return s.call(func() error {
				return s.storeStatus(obj, func() error { return c.SubResource(sub).Update(ctx, obj, opts...) })
			})
		},
	})
	live := interceptor.NewClient(s.store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return s.call(func() error { return c.Get(ctx, key, obj, opts...) })
		},
	})
	return New(Options{
		Hold: func() error { return nil },
		Hub:  hub, Live: live, Scales: scales{sim: s}, Mapper: s.mapper, TimeZone: "UTC",
		Clock: s.clock, Events: noEvents{}, Metrics: NewMetrics(prometheus.NewRegistry()),
	})
}

// get answers from the cache.
func (s *sim) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	cron, ok := obj.(*v1alpha1.CronFederatedHPA)
	if !ok || s.stale == nil {
		return c.Get(ctx, key, obj, opts...)
	}
	if err := c.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	if s.seen == nil || s.seen.ResourceVersion != cron.ResourceVersion {
		s.former, s.seen = s.seen, cron.DeepCopy()
	}
	if s.former != nil && s.stale() {
		s.former.DeepCopyInto(cron)
	}
	return nil
}

// setTarget notes that a program set the target.
func (s *sim) setTarget(do func() error) error {
	err := do()
	if err == nil {
		s.log.open = true
	}
	return err
}

// storeStatus notes what a status says of runs.
func (s *sim) storeStatus(obj client.Object, do func() error) error {
	err := do()
	if err == nil {
		s.log.read(s.t, obj.(*v1alpha1.CronFederatedHPA))
	}
	return err
}

// scales is the scale subresource of Deployments.
type scales struct {
	*sim
	namespace string
}

func (s scales) Scales(namespace string) scale.ScaleInterface { return scales{s.sim, namespace} }

func (s scales) Get(ctx context.Context, _ schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	d := &appsv1.Deployment{}
	if err := s.call(func() error { return s.store.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, d) }); err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name, ResourceVersion: d.ResourceVersion}
	return &autoscalingv1.Scale{ObjectMeta: meta, Spec: autoscalingv1.ScaleSpec{Replicas: *d.Spec.Replicas}}, nil
}

func (s scales) Update(_ context.Context, _ schema.GroupResource, to *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale,
	error) {
	d := newDeployment(to.Spec.Replicas)
	d.Namespace, d.ResourceVersion = s.namespace, to.ResourceVersion
	return to, s.call(func() error { return s.setTarget(func() error { return s.store.write(d) }) })
}

func (s scales) Patch(context.Context, schema.GroupVersionResource, string, types.PatchType, []byte,
	metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	return nil, errors.New("no program does that")
}

// noEvents drops Events.
type noEvents struct{}

var _ events.EventRecorder = noEvents{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
func (n noEvents) WithLogger(any) events.EventRecorder                                         { return n }

// reconcile is one reconcile of the object by a program.
func (s *sim) reconcile(r *Reconciler) (time.Duration, error) {
	quiet := klog.NewContext(s.t.Context(), logr.Discard())
	result, err := r.Reconcile(quiet, reconcile.Request{NamespacedName: key})
	return result.RequeueAfter, err
}

// reconcileAt is one at a time, which must not fail.
func (s *sim) reconcileAt(r *Reconciler, at string) time.Duration {
	s.t.Helper()
	s.clock.SetTime(moment(s.t, at))
	wait, err := s.reconcile(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return wait
}

// cron is the object as the hub has it.
func (s *sim) cron() *v1alpha1.CronFederatedHPA {
	s.t.Helper()
	found := &v1alpha1.CronFederatedHPA{}
	if err := s.store.Get(s.t.Context(), key, found); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// edit changes the spec as a person does.
func (s *sim) edit(change func(*v1alpha1.CronFederatedHPASpec)) {
	s.t.Helper()
	object := s.cron()
	change(&object.Spec)
	object.Generation++
	if s.webhook {
		admitted(object)
	}
	if err := s.store.Update(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// target returns what the rules set, and its number: the replicas of the Deployment,
// or maxReplicas of the autoscaler.
func (s *sim) target() (object client.Object, number *int32) {
	s.t.Helper()
	object = newTarget(s.cron().Spec.ScaleTargetRef.Kind, 0, 0)
	if err := s.store.Get(s.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.t.Fatal(err)
	}
	if d, is := object.(*appsv1.Deployment); is {
		return d, d.Spec.Replicas
	}
	return object, cronplan.BoundsIn(object).Max
}

func (s *sim) replicas() int32 {
	s.t.Helper()
	_, number := s.target()
	return *number
}

// scaleTo is another one's hand on the target.
func (s *sim) scaleTo(n int32) {
	s.t.Helper()
	object, number := s.target()
	*number = n
	if err := s.store.Update(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// newTarget is one of a kind: an autoscaler with these bounds, or a Deployment of as many replicas as the most.
func newTarget(kind string, least, most int32) client.Object {
	switch kind {
	case federated.Kind:
		return newFederatedHPA(least, most)
	case multidim.Kind:
		return newMultidim(least, most)
	}
	return newDeployment(most)
}

func newMultidim(least, most int32) *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	m.Spec.ScaleTargetRef, m.Spec.Constraints.Global = deployment, &v1alpha1.GlobalConstraints{MinReplicas: &least, MaxReplicas: most}
	return m
}

func newDeployment(n int32) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}, Spec: appsv1.DeploymentSpec{Replicas: &n}}
}

func newFederatedHPA(least, most int32) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	f.Spec.ScaleTargetRef, f.Spec.MinReplicas, f.Spec.MaxReplicas = deployment, &least, most
	return f
}
