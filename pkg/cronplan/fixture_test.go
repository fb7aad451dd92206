// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan/cronplantest"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

type ruleSpec = v1alpha1.CronFederatedHPARule

// Words that make the tests short.
var (
	sets, setsMin, setsBoth         = cronplantest.Sets, cronplantest.SetsMin, cronplantest.SetsBoth
	deployment, federated, multidim = cronplantest.Deployment, cronplantest.Federated, cronplantest.Multidim
	autoscalers, newCron, moment    = cronplantest.Autoscalers, cronplantest.NewCron, cronplantest.Moment
)

func setsMax(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMaxReplicas: &n}
}

func (s *story) in(zone string) { s.object.Spec.Rules[0].TimeZone = &zone }

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
