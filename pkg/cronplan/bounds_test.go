// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func newFederatedHPA(least *int32, most int32) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = least, most
	return f
}

func newMultidim(global *v1alpha1.GlobalConstraints) *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	m.Spec.Constraints.Global = global
	return m
}

// noGlobal is what is said of a MultidimPodAutoscaler without bounds.
const noGlobal = `MultidimPodAutoscaler "shop" has no constraints.global: set it with minReplicas and maxReplicas, which the rules then change`

func TestBoundsOf(t *testing.T) {
	two, nine := int32(2), int32(9)
	tests := map[string]struct {
		autoscaler metav1.Object
		want       Target
	}{
		"a FederatedHPA": {newFederatedHPA(&two, 9),
			Target{Checked: true, Has: Values{MinReplicas: &two, MaxReplicas: &nine}}},
		"a FederatedHPA without minReplicas": {newFederatedHPA(nil, 9), Target{Checked: true, Has: Values{MaxReplicas: &nine}}},
		"a MultidimPodAutoscaler": {newMultidim(&v1alpha1.GlobalConstraints{MinReplicas: &two, MaxReplicas: 9}),
			Target{Checked: true, Has: Values{MinReplicas: &two, MaxReplicas: &nine}}},
		"one without minReplicas": {newMultidim(&v1alpha1.GlobalConstraints{MaxReplicas: 9}),
			Target{Checked: true, Has: Values{MaxReplicas: &nine}}},
		"one without constraints.global": {newMultidim(nil), Target{Checked: true, Trouble: &Trouble{reasonNoBounds, noGlobal}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, BoundsOf(tc.autoscaler))
		})
	}
}

// Only what a rule says is changed, and nothing beside the bounds.
func TestBoundsAreSet(t *testing.T) {
	two, three, nine := int32(2), int32(3), int32(9)
	tests := map[string]struct {
		set   Values
		least *int32
		most  int32
	}{
		"both":    {Values{MinReplicas: &three, MaxReplicas: &nine}, &three, 9},
		"minimum": {Values{MinReplicas: &three}, &three, 5},
		"maximum": {Values{MaxReplicas: &nine}, &two, 9},
		"lowered": {Values{MaxReplicas: &three}, &two, 3},
		"nothing": {Values{}, &two, 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, m := newFederatedHPA(&two, 5), newMultidim(&v1alpha1.GlobalConstraints{MinReplicas: &two, MaxReplicas: 5})
			BoundsIn(f).Set(tc.set)
			BoundsIn(m).Set(tc.set)
			want := []any{newFederatedHPA(tc.least, tc.most), newMultidim(&v1alpha1.GlobalConstraints{MinReplicas: tc.least, MaxReplicas: tc.most})}
			fleettest.Same(t, "", want, []any{f, m})
		})
	}
}

// A minimum of 0 is for a FederatedHPA alone, and only with a metric that is known while there are no Pods.
func TestWhoMayHaveNone(t *testing.T) {
	for kind, want := range map[autoscalingv2.MetricSourceType]bool{"Object": true, "External": true, "Resource": false, "Pods": false} {
		f, m := newFederatedHPA(nil, 9), newMultidim(&v1alpha1.GlobalConstraints{MaxReplicas: 9})
		f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: "Resource"}, {Type: kind}}
		m.Spec.Goals = &v1alpha1.Goals{Metrics: f.Spec.Metrics}
		if got := BoundsOf(f).MayHaveNone; got != want {
			t.Errorf("%s: %v", kind, got)
		}
		if BoundsOf(m).MayHaveNone {
			t.Errorf("%s: a MultidimPodAutoscaler may", kind)
		}
	}
}

func TestTargetsAutoscaler(t *testing.T) {
	tests := map[string]struct {
		apiVersion, kind string
		want             bool
	}{
		"a FederatedHPA":                    {"autoscaling.karmada.io/v1alpha1", "FederatedHPA", true},
		"a MultidimPodAutoscaler":           {"autoscaling.karmada.io/v1alpha1", "MultidimPodAutoscaler", true},
		"a CronFederatedHPA":                {"autoscaling.karmada.io/v1alpha1", "CronFederatedHPA", false},
		"one of another version":            {"autoscaling.karmada.io/v1beta1", "MultidimPodAutoscaler", false},
		"one of another group":              {"autoscaling.gke.io/v1beta1", "MultidimPodAutoscaler", false},
		"a FederatedHPA without apiVersion": {"", "FederatedHPA", false},
		"a workload":                        {"apps/v1", "Deployment", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := autoscalingv2.CrossVersionObjectReference{APIVersion: tc.apiVersion, Kind: tc.kind, Name: "shop"}
			if got := TargetsAutoscaler(newCron(target)); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// What lacks bounds is awaited as what is not there, and nothing is set meanwhile.
func TestMissingBoundsAreAwaited(t *testing.T) {
	s := tell(t, multidim, setsMin("r", "30 8 * * *", 7))
	s.goes("07:30")
	for _, at := range []string{"08:30", "08:35"} {
		in := s.situation(at)
		in.Target = BoundsOf(newMultidim(nil))
		d := decide(t, in)
		if !d.Set.Empty() || d.Delay == nil || d.Delay.Message != noGlobal || len(d.News) > 0 || !NeedsTarget(in.Object, in.Now) {
			t.Errorf("%s: decided %+v", at, d)
		}
		s.object.Status, s.delay = d.Status, d.Delay
	}
	says(t, s.goes("08:36"), "01 08:30 r succeeded: minReplicas 7")
	s.goes("2027-03-02 08:00")
	in := s.situation("2027-03-02 08:40")
	in.Target, in.Delay = BoundsOf(newMultidim(nil)), &Delay{Trouble{reasonNoBounds, noGlobal}, moment(t, "2027-03-02 08:20")}
	says(t, decide(t, in), "02 08:30 r failed: "+noGlobal)
}
