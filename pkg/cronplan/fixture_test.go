// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

type ruleSpec = v1alpha1.CronFederatedHPARule

// rules make the tests short: a name, a schedule, and what is set.
func sets(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetReplicas: &n}
}

func setsMin(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMinReplicas: &n}
}

func setsMax(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMaxReplicas: &n}
}

func setsBoth(name, schedule string, least, most int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMinReplicas: &least, TargetMaxReplicas: &most}
}

func (s *story) in(zone string) { s.object.Spec.Rules[0].TimeZone = &zone }

var (
	deployment = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"}
	federated  = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "FederatedHPA", Name: "shop"}
	multidim   = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler",
		Name: "shop"}
)

// autoscalers are the targets whose bounds are set.
func autoscalers() []autoscalingv2.CrossVersionObjectReference {
	return []autoscalingv2.CrossVersionObjectReference{federated, multidim}
}

// newCron is an object as it was just created, with target and rules.
func newCron(target autoscalingv2.CrossVersionObjectReference, rules ...ruleSpec) *v1alpha1.CronFederatedHPA {
	return &v1alpha1.CronFederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cron", UID: "1", Generation: 1},
		Spec:       v1alpha1.CronFederatedHPASpec{ScaleTargetRef: target, Rules: rules},
	}
}

// story is one object over time, without a hub: what is decided holds.
type story struct {
	t      *testing.T
	object *v1alpha1.CronFederatedHPA
	has    Values
	delay  *Delay
}

func tell(t *testing.T, target autoscalingv2.CrossVersionObjectReference, rules ...ruleSpec) *story {
	s := &story{t: t, object: newCron(target, rules...)}
	s.has = Values{Replicas: new(int32(1))}
	if TargetsAutoscaler(s.object) {
		s.has = Values{MinReplicas: new(int32(1)), MaxReplicas: new(int32(10))}
	}
	return s
}

// moment reads "2027-03-01 08:30" or with seconds, in UTC; a time alone is of that day.
func moment(t testing.TB, text string) time.Time {
	t.Helper()
	if len(text) <= len("15:04:05") {
		text = "2027-03-01 " + text
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	t.Fatalf("no time: %q", text)
	return time.Time{}
}

// edit changes the spec as a person would.
func (s *story) edit(change func(*v1alpha1.CronFederatedHPASpec)) {
	change(&s.object.Spec)
	s.object.Generation++
}

// situation returns that of the story at a time.
func (s *story) situation(at string) Situation {
	object := s.object.DeepCopy()
	v1alpha1.DefaultCronFederatedHPA(object)
	return Situation{
		Object: object, Timetables: timetablesOf(object), Now: moment(s.t, at), Delay: s.delay,
		Target: Target{Checked: true, Has: s.has},
	}
}

func timetablesOf(object *v1alpha1.CronFederatedHPA) (all []Timetable) {
	for _, rule := range object.Spec.Rules {
		all = append(all, ReadTimetable(rule.Schedule, ptr.Deref(rule.TimeZone, "UTC"), schedule.LoadZone))
	}
	return all
}

// goes is one reconcile of the object, after which target and status are as decided.
func (s *story) goes(at string) Decision {
	s.t.Helper()
	d := decide(s.t, s.situation(at))
	s.has = s.has.with(d.Set)
	s.object.Status = d.Status
	s.delay = nil
	return d
}

// fails is one reconcile while there is a trouble.
func (s *story) fails(at, reason, message string) Decision {
	s.t.Helper()
	in := s.situation(at)
	in.Target.Trouble = &Trouble{Reason: reason, Message: message}
	d := decide(s.t, in)
	s.object.Status = d.Status
	s.delay = d.Delay
	return d
}
