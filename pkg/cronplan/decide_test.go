// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// lines returns what a decision says of runs, as text.
func lines(d Decision) []string {
	var lines []string
	for _, r := range d.News {
		said := r.Message
		if r.Result == Succeeded {
			said = r.Applied.String()
		}
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", r.At.UTC().Format("02 15:04"), r.Rule, r.Result, said))
	}
	return lines
}

// says compares what a reconcile made of the runs, each a line.
func says(t *testing.T, d Decision, want ...string) {
	t.Helper()
	fleettest.Same(t, "runs", want, lines(d))
}

// next returns when the first rule runs next, or "".
func (s *story) next() string {
	return nextOf(s.object.Status.ExecutionHistories[0])
}

func nextOf(e v1alpha1.ExecutionHistory) string {
	if e.NextExecutionTime == nil {
		return ""
	}
	return e.NextExecutionTime.UTC().Format("2006-01-02 15:04")
}

func (s *story) expectNext(want string) {
	s.t.Helper()
	if got := s.next(); got != want {
		s.t.Errorf("next run is %q, want %q", got, want)
	}
}

func (s *story) expect(want string) {
	s.t.Helper()
	if got := s.has.String(); got != want {
		s.t.Errorf("the target has %s, want %s", got, want)
	}
}

// The times that the proposal of CronFederatedHPA gives for "3 * * * *".
func TestFirstRunIsTheNextOne(t *testing.T) {
	for applied, want := range map[string]string{
		"09:04": "2027-03-01 10:03", "09:01": "2027-03-01 09:03", "09:03": "2027-03-01 10:03", "09:02:59": "2027-03-01 09:03",
	} {
		s := tell(t, deployment, sets("hourly", "3 * * * *", 5))
		says(t, s.goes(applied))
		s.expectNext(want)
	}
}

// The target is read only where a decision needs it: that costs a request.
func TestNeedsTarget(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	needs := func(at string, want bool) {
		t.Helper()
		if NeedsTarget(s.object, moment(t, at)) != want {
			t.Errorf("at %s the target is needed: %v", at, !want)
		}
	}
	needs("07:00", true) // new
	s.goes("07:00")
	needs("07:01", false)
	needs("08:29:59", false)
	needs("08:30", true)
	s.goes("08:30")
	needs("08:31", false)
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].TargetReplicas = new(int32(8)) })
	needs("08:31", true)
	s.goes("08:31")
	needs("08:32", false)
	s.fails("08:32", reasonNotFound, "it is gone")
	needs("08:33", true)
}

// The proposal's first story: up to 1000 at 08:30, down to 1 at 11:00.
func TestUpAndDown(t *testing.T) {
	s := tell(t, deployment, sets("Scale-Up", "30 08 * * *", 1000), sets("Scale-Down", "0 11 * * *", 1))
	s.has = Values{Replicas: new(int32(3))}
	s.goes("07:00")
	says(t, s.goes("08:29:59"))
	d := s.goes("08:30:00")
	says(t, d, "01 08:30 Scale-Up succeeded: replicas 1000")
	s.expect("replicas 1000")
	if want := moment(t, "11:00"); !d.Wake.Equal(want) {
		t.Errorf("wakes at %v, want %v", d.Wake, want)
	}
	at := func(text string) metav1.Time { return *stamp(moment(t, text)) }
	next := at("2027-03-02 08:30")
	up := v1alpha1.ExecutionHistory{
		RuleName: "Scale-Up", NextExecutionTime: &next, LastScheduleTime: new(at("08:30")), TimeZone: "UTC",
		ScheduleHash: s.object.Status.ExecutionHistories[0].ScheduleHash,
		SuccessfulExecutions: []v1alpha1.SuccessfulExecution{{ScheduleTime: at("08:30"), ExecutionTime: at("08:30"),
			AppliedReplicas: new(int32(1000))}},
	}
	fleettest.Same(t, "history", up, s.object.Status.ExecutionHistories[0])
	want := &v1alpha1.CronFederatedHPASummary{Next: "2027-03-01T11:00:00Z Scale-Down", Last: "Scale-Up Succeeded", Suspended: "0/2"}
	fleettest.Same(t, "summary", want, s.object.Status.Summary)
	says(t, s.goes("08:30:30")) // not twice
	fleettest.Same(t, "summary half a minute later", want, s.object.Status.Summary)
	says(t, s.goes("11:00:05"), "01 11:00 Scale-Down succeeded: replicas 1")
	s.expect("replicas 1")
}

// A controller that is back at 11:05 applies the rule of 11:00 only.
func TestLatestOfSeveralWins(t *testing.T) {
	s := tell(t, deployment, sets("up", "30 08 * * *", 1000), sets("down", "0 11 * * *", 1))
	s.goes("07:00")
	d := s.goes("11:05")
	says(t, d, `01 08:30 up superseded: superseded by rule "down", scheduled at 2027-03-01T11:00:00Z`, "01 11:00 down succeeded: replicas 1")
	if !d.Set.Empty() {
		t.Errorf("sets %v, though the target has it", d.Set)
	}
	s.expectNext("2027-03-02 08:30")
}

func TestRunsOfOneMinuteGoInTheOrderOfTheRules(t *testing.T) {
	s := tell(t, deployment, sets("a", "0 9 * * *", 2), sets("b", "0 9 * * *", 3))
	s.goes("08:00")
	says(t, s.goes("09:00"), `01 09:00 a superseded: superseded by rule "b", scheduled at 2027-03-01T09:00:00Z`,
		"01 09:00 b succeeded: replicas 3")
}

func TestEachBoundIsOfTheLastThatSetsIt(t *testing.T) {
	for _, target := range autoscalers() {
		s := tell(t, target, setsBoth("morning", "30 8 * * *", 5, 50), setsMin("promo", "0 9 * * *", 20), setsMin("noon", "0 10 * * *", 30))
		s.goes("08:00")
		says(t, s.goes("10:00"), "01 08:30 morning succeeded: maxReplicas 50",
			`01 09:00 promo superseded: superseded by rule "noon", scheduled at 2027-03-01T10:00:00Z`, "01 10:00 noon succeeded: minReplicas 30")
		s.expect("minReplicas 30 and maxReplicas 50")
	}
}

func TestBoundsMustFit(t *testing.T) {
	tests := map[string]struct {
		rules []ruleSpec
		want  []string
		has   string
	}{
		"a minimum above the maximum": {[]ruleSpec{setsMin("r", "0 9 * * *", 11)},
			[]string{"01 09:00 r failed: minReplicas 11 would exceed maxReplicas 10"}, "minReplicas 1 and maxReplicas 10"},
		"a minimum that is the maximum": {[]ruleSpec{setsMin("r", "0 9 * * *", 10)}, []string{"01 09:00 r succeeded: minReplicas 10"},
			"minReplicas 10 and maxReplicas 10"},
		"both above those of before": {[]ruleSpec{setsBoth("r", "0 9 * * *", 20, 30)},
			[]string{"01 09:00 r succeeded: minReplicas 20 and maxReplicas 30"}, "minReplicas 20 and maxReplicas 30"},
		"two rules that fit only together": {[]ruleSpec{setsMin("low", "0 9 * * *", 20), setsMax("high", "0 9 * * *", 30)},
			[]string{"01 09:00 low succeeded: minReplicas 20", "01 09:00 high succeeded: maxReplicas 30"}, "minReplicas 20 and maxReplicas 30"},
		"a maximum below the minimum": {[]ruleSpec{setsBoth("up", "0 8 * * *", 20, 30), setsMax("down", "0 9 * * *", 15)},
			[]string{"01 08:00 up succeeded: minReplicas 20 and maxReplicas 30",
				"01 09:00 down failed: maxReplicas 15 would be below minReplicas 20"}, "minReplicas 20 and maxReplicas 30"},
		"no minimum, and nothing to allow it": {[]ruleSpec{setsMin("r", "0 9 * * *", 0)},
			[]string{"01 09:00 r failed: minReplicas 0 needs a FederatedHPA with an Object or External metric"},
			"minReplicas 1 and maxReplicas 10"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, target := range autoscalers() {
				s := tell(t, target, tc.rules...)
				s.goes("07:00")
				says(t, s.goes("09:00"), tc.want...)
				s.expect(tc.has)
			}
		})
	}
}

func TestMinimumOfATargetWithoutOne(t *testing.T) {
	for _, target := range autoscalers() {
		s := tell(t, target, setsMax("r", "0 9 * * *", 3))
		s.has[MinReplicas] = nil
		s.goes("07:00")
		says(t, s.goes("09:00"), "01 09:00 r succeeded: maxReplicas 3")
		s.expect("maxReplicas 3")
	}
}

func TestMissedRunsAreRecorded(t *testing.T) {
	const away = "the controller was not running, or could not reach the hub"
	tests := map[string]struct {
		schedule, back string
		maxDelay       *int64
		want           []string
		next           string
	}{
		"one": {"0 * * * *", "09:30", nil, []string{"01 08:00 r missed: missed 1 execution, at 2027-03-01T08:00:00Z: " + away,
			"01 09:00 r succeeded: replicas 7"}, "2027-03-01 10:00"},
		"more": {"0 * * * *", "2027-03-02 07:59:59", nil,
			[]string{"02 06:00 r missed: missed 23 executions from 2027-03-01T08:00:00Z to 2027-03-02T06:00:00Z: " + away,
				"02 07:00 r succeeded: replicas 7"}, "2027-03-02 08:00"},
		"more than are counted": {"* * * * *", "2027-03-02 07:59:59", nil, []string{
			"02 07:58 r missed: missed more than 1000 executions from 2027-03-01T07:31:00Z to 2027-03-02T07:58:00Z: " + away,
			"02 07:59 r succeeded: replicas 7"}, "2027-03-02 08:00"},
		"just in time": {"0 * * * *", "08:01", new(int64(60)), []string{"01 08:00 r succeeded: replicas 7"}, "2027-03-01 09:00"},
		"too late": {"0 * * * *", "08:01:01", new(int64(60)), []string{"01 08:00 r missed: missed: started 61 s late, maxDelaySeconds=60"},
			"2027-03-01 09:00"},
		"far too late": {"0 * * * *", "10:01:01", new(int64(60)), []string{
			"01 09:00 r missed: missed 2 executions from 2027-03-01T08:00:00Z to 2027-03-01T09:00:00Z: " + away,
			"01 10:00 r missed: missed: started 61 s late, maxDelaySeconds=60"}, "2027-03-01 11:00"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tell(t, deployment, sets("r", tc.schedule, 7))
			s.object.Spec.Rules[0].MaxDelaySeconds = tc.maxDelay
			s.goes("07:30")
			says(t, s.goes(tc.back), tc.want...)
			s.expectNext(tc.next)
		})
	}
}

func TestSuspendedRuleHasNoRuns(t *testing.T) {
	suspend := func(on bool) func(*v1alpha1.CronFederatedHPASpec) {
		return func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].Suspend = &on }
	}
	s := tell(t, deployment, sets("r", "0 * * * *", 7))
	s.goes("07:30")
	s.goes("08:00")
	s.edit(suspend(true))
	d := s.goes("08:10")
	s.expectNext("")
	if !d.Wake.IsZero() {
		t.Errorf("wakes at %v for nothing", d.Wake)
	}
	if got := s.object.Status.Summary.Suspended; got != "1/1" {
		t.Errorf("suspended: %s", got)
	}
	if n := len(s.object.Status.ExecutionHistories[0].SuccessfulExecutions); n != 1 {
		t.Errorf("%d runs are remembered, want 1", n)
	}
	says(t, s.goes("09:10"))
	s.edit(suspend(false))
	says(t, s.goes("10:10")) // what was meant to be left out is not caught up
	s.expectNext("2027-03-01 11:00")
	s.edit(suspend(true))
	says(t, s.goes("11:10"), "01 11:00 r missed: not run: the rule was suspended before it could run")
}

func TestChangedRuleBeginsAnew(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 * * * *", 7))
	s.goes("07:30")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].Schedule = "45 * * * *" })
	says(t, s.goes("08:50"), "01 08:00 r missed: not run: schedule or timeZone was changed before it could run")
	s.expectNext("2027-03-01 09:45")
	s.edit(func(*v1alpha1.CronFederatedHPASpec) { s.in("Asia/Kathmandu") }) // 5:45 ahead
	says(t, s.goes("09:00"))
	s.expectNext("2027-03-01 10:00")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].TargetReplicas = new(int32(8)) })
	says(t, s.goes("10:00"), "01 10:00 r succeeded: replicas 8")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].Name = "other" })
	s.goes("10:30")
	if got := s.object.Status.ExecutionHistories; len(got) != 1 || got[0].RuleName != "other" || got[0].SuccessfulExecutions != nil {
		t.Errorf("the history of a new name begins with %+v", got)
	}
}

// Who takes away a rule in the minute in which it is due, or gives it another
// name, learns that it did not run.
func TestRuleThatGoesWhenItIsDue(t *testing.T) {
	const gone = "not run: the rule was removed or renamed before it could run"
	s := tell(t, deployment, sets("a", "0 9 * * *", 7), sets("b", "0 9 * * *", 8), sets("c", "0 10 * * *", 9))
	s.goes("08:30")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) {
		spec.Rules[0].Name, spec.Rules[1].Name, spec.Rules[2].Name = "x", "y", "z"
	})
	d := s.goes("09:00:01")
	says(t, d, "01 09:00 a missed: "+gone, "01 09:00 b missed: "+gone)
	if !d.Set.Empty() {
		t.Errorf("sets %v", d.Set)
	}
	s.expectNext("2027-03-02 09:00")
	if want := "b Failed"; s.object.Status.Summary.Last != want {
		t.Errorf("the summary says %q, want %q", s.object.Status.Summary.Last, want)
	}
	says(t, s.goes("09:00:02")) // once
}

func TestRuleThatCanNotRunAnyMore(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 9 * * *", 7))
	s.goes("08:30")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].TargetReplicas = nil })
	says(t, s.goes("09:00"), "01 09:00 r missed: not run: targetReplicas must be set")
	s.expectNext("")
}

// Another kind of target is set as soon as the rules know what.
func TestTargetOfAnotherKind(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 9 * * *", 7))
	s.goes("08:30")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) {
		spec.ScaleTargetRef, spec.Rules = federated, []ruleSpec{setsMin("r", "0 9 * * *", 5)}
	})
	s.has = Values{MinReplicas: new(int32(1)), MaxReplicas: new(int32(10))}
	says(t, s.goes("09:00"), "01 09:00 r succeeded: minReplicas 5")
	s.expect("minReplicas 5 and maxReplicas 10")
}

// A clock that was years ahead leaves a rule waiting; to suspend it and to let
// it go on has it begin again.
func TestRuleThatBeginsAnewAfterAClockGoneWrong(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 9 * * *", 7))
	suspend := func(on bool) { s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].Suspend = &on }) }
	s.goes("08:30")
	s.goes("2077-06-01 12:00")
	s.goes("09:30")
	s.expectNext("2077-06-02 09:00")
	suspend(true)
	s.goes("09:31")
	suspend(false)
	s.goes("09:32")
	s.goes("09:33")
	s.expectNext("2027-03-02 09:00")
	says(t, s.goes("2027-03-02 09:00"), "02 09:00 r succeeded: replicas 7")
}

func TestClockSetBackRepeatsNothing(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 * * * *", 7))
	s.goes("07:30")
	s.goes("10:00")
	says(t, s.goes("08:30"))
	s.expectNext("2027-03-01 11:00")
	says(t, s.goes("10:00"))
	says(t, s.goes("11:00"), "01 11:00 r succeeded: replicas 7")
}

// What has run of another schedule does not hold up the one that took its place.
func TestChangedRuleAfterTheClockWasSetBack(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 * * * *", 7))
	s.goes("07:30")
	s.goes("10:00")
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules[0].Schedule = "45 * * * *" })
	s.goes("08:30")
	s.goes("08:31")
	s.expectNext("2027-03-01 08:45")
}

// An object is new when it was created, not when the controller comes to it.
func TestRunBetweenCreationAndFirstSight(t *testing.T) {
	created := func(at string) *story {
		s := tell(t, deployment, sets("r", "0 9 * * *", 7))
		s.object.CreationTimestamp = *stamp(moment(t, at))
		return s
	}
	says(t, created("08:59:59").goes("09:00:00"), "01 09:00 r succeeded: replicas 7")
	says(t, created("09:00:00").goes("09:00:01"))
	late := created("08:59:59")
	d := late.goes("09:20:00")
	says(t, d, "01 09:00 r missed: missed: the controller observed the new object 1200 s late")
	if !d.Set.Empty() {
		t.Error("an object that is not new is applied at first sight")
	}
	edited := created("08:00")
	edited.object.Generation = 2
	says(t, edited.goes("09:00:01"))
}

// A status that Karmada's controller wrote has no hashes.
func TestStatusOfAnotherController(t *testing.T) {
	s := tell(t, deployment, sets("r", "0 9 * * *", 7))
	s.object.CreationTimestamp = *stamp(moment(t, "2026-01-01 00:00"))
	s.object.Status.ExecutionHistories = []v1alpha1.ExecutionHistory{{RuleName: "r", NextExecutionTime: stamp(moment(t, "09:00"))}}
	says(t, s.goes("12:00"))
	s.expectNext("2027-03-02 09:00")
}

func TestTroubleIsRetriedAndRecordedOnce(t *testing.T) {
	const down = "setting Deployment \"shop\": webhook is down"
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.goes("07:30")
	wants := func(d Decision, retry bool, wake string) {
		t.Helper()
		if d.Delay != nil != retry || !d.Wake.Equal(moment(t, wake)) {
			t.Errorf("retry %v at %v, want %v at %s", d.Delay != nil, d.Wake, retry, wake)
		}
	}
	d := s.fails("08:30:00", reasonNotSet, down)
	says(t, d)
	wants(d, true, "08:30:01")
	s.expectNext("2027-03-01 08:30")
	wants(s.fails("08:30:01", reasonNotSet, down), true, "08:30:02")
	wants(s.fails("08:30:20", reasonUnreachable, down), true, "08:30:30")
	wants(s.fails("08:35:00", reasonUnreachable, down), true, "08:35:30")
	wants(s.fails("08:39:50", reasonUnreachable, down), true, "08:40:00")
	d = s.fails("08:40:00", reasonNotSet, down)
	says(t, d, "01 08:30 r failed: "+down)
	if d.Delay != nil {
		t.Error("is retried")
	}
	s.expectNext("2027-03-02 08:30")
}

func TestTroubleThatPasses(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.goes("07:30")
	s.fails("08:30", reasonNotSet, "x")
	d := s.goes("08:35")
	says(t, d, "01 08:30 r succeeded: replicas 7")
	if n := len(s.object.Status.ExecutionHistories[0].FailedExecutions); n != 0 {
		t.Errorf("%d failures are remembered, want none", n)
	}
}

func TestTroubleEndsWithTheNextRunOrTheDelay(t *testing.T) {
	s := tell(t, deployment, sets("r", "* * * * *", 7))
	s.goes("08:29:30")
	s.fails("08:30", reasonNotSet, "no luck")
	says(t, s.fails("08:31", reasonNotSet, "no luck"), "01 08:30 r missed: missed 1 execution, at 2027-03-01T08:30:00Z: no luck")
	s.expectNext("2027-03-01 08:31")
	says(t, s.goes("08:31:10"), "01 08:31 r succeeded: replicas 7")

	s = tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.object.Spec.Rules[0].MaxDelaySeconds = new(int64(20))
	s.goes("07:30")
	s.fails("08:30:00", reasonNotSet, "no luck")
	d := s.fails("08:30:18", reasonNotSet, "no luck")
	if want := moment(t, "08:30:20"); !d.Wake.Equal(want) {
		t.Errorf("wakes at %v, want %v", d.Wake, want)
	}
	says(t, s.fails("08:30:21", reasonNotSet, "no luck"), "01 08:30 r failed: no luck")
}

// A run that comes due in the midst of a trouble is tried for as long as others.
func TestTroubleThatIsOlderThanTheRun(t *testing.T) {
	s := tell(t, deployment, sets("a", "0 9 * * *", 7), sets("b", "9 9 * * *", 8))
	s.goes("08:30")
	s.fails("09:00:00", reasonNotSet, "no luck")
	s.fails("09:09:30", reasonNotSet, "no luck")
	says(t, s.fails("09:10:00", reasonNotSet, "no luck"), "01 09:00 a failed: no luck")
	says(t, s.fails("09:18:59", reasonNotSet, "no luck"))
	says(t, s.fails("09:19:00", reasonNotSet, "no luck"), "01 09:09 b failed: no luck")
}

// A rule's next run is not slept over for want of luck with the one before.
func TestWakesForTheNextRun(t *testing.T) {
	s := tell(t, deployment, sets("r", "* * * * *", 7))
	s.goes("08:29:30")
	s.fails("08:30:00", reasonNotSet, "no luck")
	d := s.fails("08:30:50", reasonNotSet, "no luck")
	if want := moment(t, "08:31"); !d.Wake.Equal(want) {
		t.Errorf("wakes at %v, want %v", d.Wake, want)
	}
	s = tell(t, deployment, sets("a", "0 9 * * *", 7), sets("b", "1 9 * * *", 8))
	s.goes("08:30")
	s.fails("09:00:00", reasonNotSet, "no luck")
	d = s.fails("09:00:50", reasonNotSet, "no luck")
	if want := moment(t, "09:01"); !d.Wake.Equal(want) {
		t.Errorf("wakes at %v, want %v", d.Wake, want)
	}
}

func TestSupersededByTheLatest(t *testing.T) {
	s := tell(t, federated, setsBoth("a", "0 8 * * *", 2, 20), setsMax("b", "0 9 * * *", 30), setsMin("c", "0 10 * * *", 3),
		setsMax("d", "0 9 * * *", 40))
	s.goes("07:00")
	says(t, s.goes("10:00"),
		`01 08:00 a superseded: superseded by rule "c", scheduled at 2027-03-01T10:00:00Z`,
		`01 09:00 b superseded: superseded by rule "d", scheduled at 2027-03-01T09:00:00Z`,
		"01 09:00 d succeeded: maxReplicas 40", "01 10:00 c succeeded: minReplicas 3")
}

func TestRefusalIsFinal(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.goes("07:30")
	says(t, s.fails("08:30", reasonRefused, "denied"), "01 08:30 r failed: denied")
}

func TestGovernedTargetIsLeftAlone(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.goes("07:30")
	in := s.situation("08:30")
	in.Target.ScaledBy = `Deployment "shop" is scaled by FederatedHPA "shop"`
	d := decide(t, in)
	says(t, d, `01 08:30 r failed: Deployment "shop" is scaled by FederatedHPA "shop"`)
	if !d.Set.Empty() {
		t.Errorf("sets %v", d.Set)
	}
}

func TestHistoryIsCut(t *testing.T) {
	for limit, want := range map[int32]int{0: 0, 1: 1, 32: 5} {
		s := tell(t, deployment, sets("r", "* * * * *", 7))
		s.object.Spec.Rules[0].SuccessfulHistoryLimit, s.object.Spec.Rules[0].FailedHistoryLimit = &limit, &limit
		s.goes("08:00:30")
		for _, at := range []string{"08:01", "08:02", "08:03", "08:04", "08:05"} {
			s.goes(at)
		}
		for _, at := range []string{"08:06", "08:07", "08:08", "08:09", "08:10"} {
			s.fails(at, reasonRefused, "no")
		}
		e := s.object.Status.ExecutionHistories[0]
		if len(e.SuccessfulExecutions) != want || len(e.FailedExecutions) != want {
			t.Fatalf("limit %d keeps %d and %d", limit, len(e.SuccessfulExecutions), len(e.FailedExecutions))
		}
		if want > 0 && (e.SuccessfulExecutions[0].ScheduleTime.Minute() != 5 || e.FailedExecutions[0].ScheduleTime.Minute() != 10) {
			t.Errorf("the newest is not the first: %v, %v", e.SuccessfulExecutions[0], e.FailedExecutions[0])
		}
	}
}

func TestZonesSideBySide(t *testing.T) {
	s := tell(t, federated, setsMin("shanghai", "30 07 * * *", 5), setsMin("los-angeles", "30 07 * * *", 6))
	s.object.Spec.Rules[0].TimeZone, s.object.Spec.Rules[1].TimeZone = new("Asia/Shanghai"), new("America/Los_Angeles")
	for now, want := range map[string][2]string{
		"2027-01-10 00:00": {"2027-01-10 23:30", "2027-01-10 15:30"},
		"2027-07-10 00:00": {"2027-07-10 23:30", "2027-07-10 14:30"},
	} {
		s.object.Status = v1alpha1.CronFederatedHPAStatus{}
		s.goes(now)
		entries := s.object.Status.ExecutionHistories
		if got := [2]string{nextOf(entries[0]), nextOf(entries[1])}; got != want {
			t.Errorf("at %s: %v, want %v", now, got, want)
		}
		if entries[1].TimeZone != "America/Los_Angeles" {
			t.Errorf("zone %q", entries[1].TimeZone)
		}
	}
}

// A rule that cannot run does not keep the others from running.
func TestFaultyRules(t *testing.T) {
	s := tell(t, deployment, sets("good", "0 9 * * *", 7), sets("bad", "61 * * * *", 1), sets("good", "0 9 * * *", 1),
		ruleSpec{Name: "empty", Schedule: "0 9 * * *"}, sets("lost", "0 9 * * *", 2))
	s.object.Spec.Rules[4].TimeZone = new("Asia/Nowhere")
	s.goes("08:00")
	says(t, s.goes("09:00"), "01 09:00 good succeeded: replicas 7")
	var said []string
	for _, c := range s.object.Status.Conditions {
		said = append(said, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	want := []string{
		`Ready False InvalidRule: rule "bad": schedule "61 * * * *": minute "61": `,
		`spec.rules[2] has no unique name`, `rule "empty": targetReplicas must be set`,
		`rule "lost": timeZone "Asia/Nowhere" is not the name of a zone`,
	}
	for _, part := range want {
		if !strings.Contains(said[0], part) {
			t.Errorf("condition %q does not say %q", said[0], part)
		}
	}
	if len(s.object.Status.ExecutionHistories) != 4 {
		t.Errorf("%d histories, want 4", len(s.object.Status.ExecutionHistories))
	}
}

func TestConditions(t *testing.T) {
	tests := map[string]struct {
		change func(*Situation)
		want   []string
	}{
		"all is well": {func(*Situation) {}, []string{"Ready True RulesUnderstood", `TargetFound True Found Deployment "shop"`,
			"Conflicting False NoOther"}},
		"not read": {func(in *Situation) { in.Target = Target{} }, []string{"Ready True RulesUnderstood", "Conflicting False NoOther"}},
		"no target": {func(in *Situation) { in.Target.Trouble = &Trouble{Reason: reasonNotFound, Message: "none"} },
			[]string{"Ready True RulesUnderstood", "TargetFound False NotFound none", "Conflicting False NoOther"}},
		"no bounds": {func(in *Situation) { in.Target = BoundsOf(newMultidim(nil)) },
			[]string{"Ready True RulesUnderstood", "TargetFound False NoBounds " + noGlobal, "Conflicting False NoOther"}},
		"target not read": {func(in *Situation) { in.Target.Trouble = &Trouble{Reason: reasonUnreachable, Message: "503"} },
			[]string{"Ready True RulesUnderstood", "TargetFound Unknown Unreachable 503", "Conflicting False NoOther"}},
		"target not set": {func(in *Situation) { in.Target.Trouble = &Trouble{Reason: reasonNotSet, Message: "503"} },
			[]string{"Ready True RulesUnderstood", `TargetFound True Found Deployment "shop"`, "Conflicting False NoOther"}},
		"another sets it": {func(in *Situation) { in.Target.ScaledBy = "taken" },
			[]string{"Ready True RulesUnderstood", `TargetFound True Found Deployment "shop"`, "Conflicting True Autoscaled taken"}},
		"a rule is no rule": {func(in *Situation) {
			in.Timetables[0].Fault = "a"
			in.Object.Spec.Rules, in.Timetables = append(in.Object.Spec.Rules, in.Object.Spec.Rules[0]), append(in.Timetables, in.Timetables[0])
		}, []string{`Ready False InvalidRule rule "r": a; spec.rules[1] has no unique name`, `TargetFound True Found Deployment "shop"`,
			"Conflicting False NoOther"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := tell(t, deployment, sets("r", "30 8 * * *", 7)).situation("07:30")
			tc.change(&in)
			var got []string
			for _, c := range decide(t, in).Status.Conditions {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Type, c.Status, c.Reason, c.Message)))
				if c.ObservedGeneration != 1 || !c.LastTransitionTime.Time.Equal(in.Now) {
					t.Errorf("%s is of generation %d and %v", c.Type, c.ObservedGeneration, c.LastTransitionTime)
				}
			}
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

func TestMissingTargetIsLookedForAgain(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	d := s.fails("07:30", reasonNotFound, "none")
	if want := moment(t, "07:31"); !d.Wake.Equal(want) || d.Delay != nil {
		t.Errorf("wakes at %v with retry %v, want %v", d.Wake, d.Delay != nil, want)
	}
}

func TestLongMessageIsCut(t *testing.T) {
	s := tell(t, deployment, sets("r", "30 8 * * *", 7))
	s.goes("07:30")
	s.fails("08:30", reasonRefused, "x"+strings.Repeat("é", 3000))
	if got := s.object.Status.ExecutionHistories[0].FailedExecutions[0].Message; len(got) > maxMessage+4 || !strings.HasSuffix(got, "é ...") {
		t.Errorf("message of %d bytes ends %q", len(got), got[len(got)-10:])
	}
}

// Faults of all rules go into a condition, which has its bounds too.
func TestLongConditionIsCut(t *testing.T) {
	var rules []ruleSpec
	for i := range 32 {
		rules = append(rules, sets(fmt.Sprintf("r%d", i), strings.Repeat("61,", 30)+"61 * * * *", 1))
	}
	s := tell(t, deployment, rules...)
	s.goes("07:30")
	if got := s.object.Status.Conditions[0].Message; len(got) > maxCondition+4 || !strings.HasPrefix(got, `rule "r0": `) ||
		!strings.HasSuffix(got, " ...") {
		t.Errorf("message of %d bytes: %s", len(got), got)
	}
}

// As many rules as there may be, each minute, with histories as long as they
// may be, of failures that have much to say: the object can still be stored.
func TestLongestStatus(t *testing.T) {
	var rules []ruleSpec
	for i := range 32 {
		rule := sets(strings.Repeat("é", 30)+fmt.Sprintf("%02d", i), "* * * * *", 1)
		rule.SuccessfulHistoryLimit, rule.FailedHistoryLimit = new(int32(32)), new(int32(32))
		rules = append(rules, rule)
	}
	s := tell(t, deployment, rules...)
	s.goes("07:30:30")
	for at := moment(t, "07:31"); at.Before(moment(t, "08:11")); at = at.Add(time.Minute) {
		s.fails(at.Format("2006-01-02 15:04"), reasonRefused, strings.Repeat("é", 3000))
	}
	text, err := json.Marshal(s.object.Status)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	if n := len(s.object.Status.ExecutionHistories[31].FailedExecutions); n != 32 || len(text) > most {
		t.Errorf("the status has %d failures of a rule, and %d bytes; it should not have more than %d: etcd takes 1.5 MiB", n, len(text), most)
	}
}

func TestZeroMetric(t *testing.T) {
	s := tell(t, federated, setsMin("r", "0 9 * * *", 0))
	s.goes("08:00")
	in := s.situation("09:00")
	in.Target.MayHaveNone = true
	says(t, decide(t, in), "01 09:00 r succeeded: minReplicas 0")
}
