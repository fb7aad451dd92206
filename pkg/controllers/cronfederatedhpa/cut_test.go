// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubclient"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// cutStory is a hub that Karmada's schema comes to, with a rule each full hour that may be ten minutes late.
type cutStory struct {
	*sim
	heard *events.FakeRecorder
	*Reconciler
}

func newCutStory(t *testing.T) *cutStory {
	t.Helper()
	object := newCron(deployment, sets("hourly", "0 * * * *", 7))
	object.Spec.Rules[0].MaxDelaySeconds = new(int64(600))
	object.CreationTimestamp = metav1.NewTime(moment(t, "08:20"))
	speccopy.Keep(object, speccopy.Of(object))
	s := &cutStory{sim: newSim(t, moment(t, "08:20"), object, newDeployment(3))}
	s.begins()
	s.reconcileAt(s.Reconciler, "08:30")
	return s
}

// begins is another leader.
func (s *cutStory) begins() {
	s.heard = events.NewFakeRecorder(16)
	s.Reconciler = s.program()
	s.Events, s.Losses = s.heard, served.NewLosses(prometheus.NewRegistry())
}

// prune writes the object as a hub that serves Karmada's schema: it drops what Karmada does not know.
func (s *cutStory) prune() {
	s.t.Helper()
	object := s.cron()
	for i := range object.Spec.Rules {
		object.Spec.Rules[i].MaxDelaySeconds = nil
	}
	var histories []v1alpha1.ExecutionHistory
	for _, h := range object.Status.ExecutionHistories {
		histories = append(histories, v1alpha1.ExecutionHistory{RuleName: h.RuleName, NextExecutionTime: h.NextExecutionTime,
			SuccessfulExecutions: h.SuccessfulExecutions, FailedExecutions: h.FailedExecutions})
	}
	object.Status = v1alpha1.CronFederatedHPAStatus{ExecutionHistories: histories}
	object.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: fieldManager, Subresource: "status", Time: new(metav1.NewTime(s.clock.Now()))},
	}
	if err := s.store.Update(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

func (s *cutStory) said() (all []string) {
	for len(s.heard.Events) > 0 {
		all = append(all, <-s.heard.Events)
	}
	return all
}

// saysInOrder wants Events that begin so.
func (s *cutStory) saysInOrder(want ...string) {
	s.t.Helper()
	said := s.said()
	if !slices.EqualFunc(said, want, strings.HasPrefix) {
		s.t.Errorf("said %q, want %q", said, want)
	}
}

// An object that has lost a field runs no rule, says so, and has it again; the run that was due meanwhile is done.
func TestLostFieldsAreRestored(t *testing.T) {
	s := newCutStory(t)
	s.prune()
	fleettest.Same(t, "waits in doubt", untilFree, s.reconcileAt(s.Reconciler, "08:59:30"))
	fleettest.Same(t, "waits in doubt, and a run is due", untilFree, s.reconcileAt(s.Reconciler, "09:00:20"))
	fleettest.Same(t, "written in doubt", "", cronplan.WhyNotReady(s.cron()))
	s.reconcileAt(s.Reconciler, "09:00:30")
	fleettest.Same(t, "not ready", restore.ReasonSpecCut, cronplan.WhyNotReady(s.cron()))
	s.saysInOrder("Warning SpecCut dropped without an edit: spec.rules.hourly.maxDelaySeconds. ")
	fleettest.Same(t, "replicas", int32(3), s.replicas())

	s.begins() // and doubts
	for _, at := range []string{"09:01:00", "09:01:59"} {
		fleettest.Same(t, "waits in doubt", untilFree, s.reconcileAt(s.Reconciler, at))
	}
	s.saysInOrder()
	s.reconcileAt(s.Reconciler, "09:02:01")
	s.saysInOrder("Normal SpecRestored restored from the annotation fleetscale.io/spec: spec.rules.hourly.maxDelaySeconds")
	fleettest.Same(t, "restored", new(int64(600)), s.cron().Spec.Rules[0].MaxDelaySeconds)
	s.reconcileAt(s.Reconciler, "09:03:02") // the status is still pruned, and doubted
	s.reconcileAt(s.Reconciler, "09:03:03")
	s.saysInOrder(`Normal RunSucceeded rule "hourly": replicas 7 of Deployment "shop"`)
	fleettest.Same(t, "not ready in the end", "", cronplan.WhyNotReady(s.cron()))
	fleettest.Same(t, "replicas", int32(7), s.replicas())
	fleettest.Same(t, "counts as cut", false, s.memories.Of(s.cron()).cut)
}

// The run is not done where it is too late by then: the field is known again.
func TestRunThatIsTooLateWhenItsFieldIsRestored(t *testing.T) {
	s := newCutStory(t)
	s.prune()
	s.reconcileAt(s.Reconciler, "09:08:59")
	s.reconcileAt(s.Reconciler, "09:10:01")
	s.reconcileAt(s.Reconciler, "09:10:02")
	s.reconcileAt(s.Reconciler, "09:10:03")
	said := s.said()
	if last := said[len(said)-1]; !strings.HasPrefix(last, `Warning RunFailed rule "hourly": missed: started 603 s late, maxDelaySeconds=600`) {
		t.Errorf("said %q", said)
	}
	fleettest.Same(t, "replicas", int32(3), s.replicas())
}

// Without the webhook it is this controller that writes the copy. Who removes the field then has removed it.
func TestCopyWithoutTheWebhook(t *testing.T) {
	s := newCutStory(t)
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].MaxDelaySeconds = new(int64(60)) })
	fleettest.Same(t, "comes back", soon, s.reconcileAt(s.Reconciler, "08:31"))
	fleettest.Same(t, "copy", `{"rules":{"hourly":{"maxDelaySeconds":60}}}`, s.cron().Annotations[v1alpha1.SpecAnnotation])
	s.reconcileAt(s.Reconciler, "08:32")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].MaxDelaySeconds = nil })
	s.reconcileAt(s.Reconciler, "08:33")
	fleettest.Same(t, "copy without the field", "", s.cron().Annotations[v1alpha1.SpecAnnotation])
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].MaxDelaySeconds = new(int64(90)) })
	s.reconcileAt(s.Reconciler, "08:34")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules = []ruleSpec{sets("other", "0 * * * *", 7)} })
	s.reconcileAt(s.Reconciler, "08:35")
	fleettest.Same(t, "copy without the rule", "", s.cron().Annotations[v1alpha1.SpecAnnotation])
	s.saysInOrder()
}

// The hub itself may hide fields before the cache shows that: some of the spec, or of the status alone.
func TestHubHidesFieldsOfACachedObject(t *testing.T) {
	for name, delay := range map[string]*int64{"of the spec": new(int64(600)), "of the status alone": nil} {
		t.Run(name, func(t *testing.T) {
			s := newCutStory(t)
			s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].MaxDelaySeconds = delay })
			s.reconcileAt(s.Reconciler, "08:31")
			s.reconcileAt(s.Reconciler, "08:32")
			s.stale = func() bool { return false }
			s.reconcileAt(s.Reconciler, "08:33")
			s.prune()
			s.stale = func() bool { return true }
			before := s.cron().ResourceVersion
			for range 3 {
				fleettest.Same(t, "waits", untilFree, s.reconcileAt(s.Reconciler, "09:00:01"))
			}
			fleettest.Same(t, "written", before, s.cron().ResourceVersion)
			fleettest.Same(t, "replicas", int32(3), s.replicas())
		})
	}
}

// What cannot be restored is retried, less often.
func TestLostFieldThatCannotBeRestored(t *testing.T) {
	s := newCutStory(t)
	s.prune()
	s.reconcileAt(s.Reconciler, "08:40")
	s.reconcileAt(s.Reconciler, "08:41")
	s.saysInOrder("Warning SpecCut")
	s.before = func(int) error { return errCrashed }
	s.clock.SetTime(moment(t, "08:42"))
	if _, err := s.reconcile(s.Reconciler); err == nil {
		t.Error("no error")
	}
	s.before = nil
	s.clock.SetTime(moment(t, "08:43").Add(time.Second))
	s.reconcileAt(s.Reconciler, "08:43")
	s.saysInOrder("Normal SpecRestored")
}

// An object that is cut after it was found to be whole is not acted on.
func TestObjectThatIsCutWhileItIsReconciled(t *testing.T) {
	s := newCutStory(t)
	s.stale = func() bool { return false }
	s.reconcileAt(s.Reconciler, "08:31")
	s.prune()
	before, reads := s.cron().ResourceVersion, 0
	s.stale = func() bool { reads++; return reads == 1 }
	fleettest.Same(t, "waits", untilFree, s.reconcileAt(s.Reconciler, "09:00:01"))
	fleettest.Same(t, "written", before, s.cron().ResourceVersion)
	fleettest.Same(t, "replicas", int32(3), s.replicas())
}

// A cache that shows a loss which is restored by now is waited for.
func TestRestoredBeforeTheCacheShowsIt(t *testing.T) {
	s := newCutStory(t)
	whole := s.cron()
	s.prune()
	s.stale = func() bool { return false }
	s.reconcileAt(s.Reconciler, "08:40")
	whole.ResourceVersion = s.cron().ResourceVersion
	if err := s.store.Update(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	s.stale = func() bool { return true }
	fleettest.Same(t, "waits", untilFree, s.reconcileAt(s.Reconciler, "08:42"))
}

// A field that was lost and has a default is not taken for one that has it.
func TestLostFieldThatHasADefault(t *testing.T) {
	s := newCutStory(t)
	set := func(to v1alpha1.ReplicaDistributionType) {
		object := s.cron()
		object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: to}
		if to != "" {
			speccopy.Keep(object, speccopy.Of(object))
		}
		if err := s.store.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	set(v1alpha1.DistributionAggregated)
	set("")
	for _, at := range []string{"08:40", "08:42", "08:43"} {
		s.reconcileAt(s.Reconciler, at)
	}
	s.saysInOrder("Warning SpecCut dropped without an edit: spec.replicaDistribution.type. ",
		"Normal SpecRestored restored from the annotation fleetscale.io/spec: spec.replicaDistribution.type")
	fleettest.Same(t, "restored", v1alpha1.DistributionAggregated, s.cron().Spec.ReplicaDistribution.Type)
}

// A program that only observes tells of lost fields, and does not try to restore them.
func TestObserverOfLostFields(t *testing.T) {
	s := newCutStory(t)
	hub := hubclient.NewObserved(s.Hub)
	s.Hub, s.Live, s.Observes = hub, hub.Live(s.Live), true
	s.prune()
	before := s.cron().ResourceVersion
	for _, at := range []string{"08:40", "08:42", "08:43", "08:44"} {
		s.reconcileAt(s.Reconciler, at)
	}
	fleettest.Same(t, "written", before, s.cron().ResourceVersion)
	s.saysInOrder("Warning SpecCut dropped without an edit: spec.rules.hourly.maxDelaySeconds. ")
	would := s.cron()
	if err := hub.Get(t.Context(), key, would); err != nil {
		t.Fatal(err)
	}
	said := meta.FindStatusCondition(would.Status.Conditions, v1alpha1.CronReady)
	if said == nil || !strings.HasSuffix(said.Message, "No rule runs. This program only observes, and does not restore them") {
		t.Errorf("Ready: %+v", said)
	}
}

// Rules run although the hub does not keep the copy that is written.
func TestCopyThatDoesNotStick(t *testing.T) {
	for name, patch := range map[string]func(client.Object) error{
		"a webhook rewrites it": func(o client.Object) error {
			o.SetAnnotations(map[string]string{v1alpha1.SpecAnnotation: `{"rules":{"hourly":{"maxDelaySeconds":600}}}`})
			return nil
		},
		"a webhook always says that another was faster": func(client.Object) error {
			return apierrors.NewConflict(v1alpha1.Resource("cronfederatedhpas"), "cron", errors.New("always"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCutStory(t)
			s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].MaxDelaySeconds = new(int64(60)) })
			s.Hub = interceptor.NewClient(s.store, interceptor.Funcs{
				Patch: func(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
					return patch(o)
				},
			})
			s.reconcileAt(s.Reconciler, "09:00:01")
			s.saysInOrder(`Normal RunSucceeded rule "hourly": replicas 7 of Deployment "shop"`)
		})
	}
}

// What the status cannot say is not said in an Event either, and is retried.
func TestLostFieldThatCannotBeTold(t *testing.T) {
	s := newCutStory(t)
	no := errors.New("no")
	s.before = func(int) error { return no }
	if err := s.tellCut(t.Context(), s.cron(), "it is cut"); !errors.Is(err, no) {
		t.Errorf("error %v, want %v", err, no)
	}
	s.saysInOrder()
}
