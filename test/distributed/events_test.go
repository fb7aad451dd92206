// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// happens is one thing that happens to the fleet, and returns for how many rounds nothing else does.
func (f *fleet) happens() (rounds int) {
	m := f.members[f.IntN(len(f.members))]
	event := f.IntN(54)
	f.judge.disturbed()
	if *f.hub.object.Spec.MinReplicas == 0 && f.oneIn(6) {
		for _, all := range f.members {
			all.pause()
		}
		f.judge.happened("nothing runs")
		return f.between(2, 30)
	}
	switch event {
	case 0, 1, 2:
		f.anyLoad()
		f.judge.did("the load is %d, of its own %d", f.load/f.goal(), m.load/f.goal())
	case 3, 4, 5:
		f.lowLoad()
		return f.between(30, 80)
	case 6, 7:
		f.slope = f.goal() * int64(f.between(-3, 5)) / 4
		f.judge.did("the load changes by %d", f.slope)
	case 8, 9, 10:
		m.room = f.between(0, 27)
		f.judge.did("%s has room for %d", m.name, m.room)
	case 11:
		m.roomKnown = !m.roomKnown
		f.judge.did("%s tells of its room: %t", m.name, m.roomKnown)
	case 12, 13, 14:
		m.trouble = of(f.dice, away, away, hanging, podsLost, hpasLost)
		f.judge.did("%s is in trouble %d", m.name, m.trouble)
		return f.between(1, of(f.dice, 5, 30, 80))
	case 15, 16, 17:
		f.heal()
		f.judge.did("all are well")
	case 18:
		f.awayFor = f.between(1, 40)
		f.judge.did("the hub is away for %d", f.awayFor)
		return f.between(1, f.awayFor)
	case 19:
		f.restart()
		f.judge.did("the program begins again")
	case 20, 21:
		f.crash = f.anyCrash()
		f.judge.did("the program will end")
		return 1
	case 22, 23:
		f.edit()
	case 24:
		m.refuses = true
		f.judge.did("%s refuses writes", m.name)
		return f.between(1, of(f.dice, 5, 30))
	case 32, 33:
		m.balks = true
		f.judge.did("%s refuses to be scaled", m.name)
		return f.between(1, of(f.dice, 5, 30))
	case 34, 35:
		f.lowLoad()
		f.ambush = true
		f.judge.did("no workload can be scaled, and once that was tried, the load changes")
		return f.between(10, 60)
	case 25, 45:
		if !m.registered { // what is not selected when it is registered again may have what we left there
			return 1
		}
		m.selected = !m.selected
		if m.enlist(); f.chosenBy == byName {
			f.hub.edit(func(s *v1alpha1.FederatedHPASpec) { s.ClusterAffinity = f.affinity() })
		}
		f.judge.edited()
		f.judge.happened("selected " + string(f.chosenBy))
		f.judge.did("%s is selected: %t", m.name, m.selected)
	case 26:
		f.rivalComesOrGoes(m)
	case 27:
		m.lags = true
		return f.between(0, 2)
	case 28, 30, 31:
		m.pause()
	case 36, 37, 38, 40, 41, 42:
		f.taintAny(m)
	case 39:
		f.tolerate()
	case 46, 47, 48:
		f.switchModes()
	case 49, 50, 51:
		f.drainAwake()
	case 52, 53:
		f.cordonAsleep()
	case 43, 44:
		f.editBelow(m)
		return f.between(1, of(f.dice, 5, 40))
	case 29:
		if f.oneIn(2) && m.selected {
			m.registered = !m.registered
			f.judge.did("%s is registered: %t", m.name, m.registered)
			return f.between(1, 40)
		}
		f.hub.fails = true
		f.judge.did("a status will not be stored")
	}
	return f.between(1, of(f.dice, 3, 20, 50))
}

// pause sets the workload to zero by hand.
func (m *member) pause() {
	if m.workload == nil {
		return
	}
	m.fleet.judge.byHand(m)
	m.workload.version++
	m.workload.replicas = 0
	m.fleet.judge.did("%s is set to zero", m.name)
}

func (f *fleet) lowLoad() {
	f.load, f.slope = f.goal()*int64(f.between(1, 3)), 0
	for _, m := range f.members {
		m.load = f.goal() / 2
	}
	f.judge.did("the load is low")
}

// heal ends all troubles.
func (f *fleet) heal() {
	for _, m := range f.members {
		m.trouble, m.refuses, m.balks, m.registered = well, false, false, true
	}
	f.ambush = false
	f.awayFor = 0
}

func (f *fleet) anyCrash() *crash {
	c := &crash{afterStatus: f.oneIn(3), lost: map[string]bool{}}
	for _, m := range f.members {
		c.lost[m.name] = f.oneIn(2)
	}
	return c
}

func (f *fleet) edit() {
	what := f.IntN(8)
	f.hub.edit(func(s *v1alpha1.FederatedHPASpec) {
		switch what {
		case 0, 1, 2:
			f.drawBounds(s)
			f.drawPreferences(s) // thresholds within the bounds
		case 3:
			f.drawPreferences(s)
		case 4:
			f.drawPolicy(s)
			f.drawPreferences(s)
		case 5:
			f.drawRebalance(s)
		case 6:
			s.ScalingToZero = new(!f.judge.toZero())
		case 7:
			s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
				StabilizationWindowSeconds: new(of(f.dice, int32(0), 120, 300))}}
		}
	})
	f.judge.edited()
	f.judge.did("the spec is edited: %s", f.spec())
}

// editBelow takes a member out of sight, and lowers the fleet's maximum below the part that it keeps there.
func (f *fleet) editBelow(m *member) {
	_, upper := m.bounds()
	if upper < 2 || f.judge.duplicated() || !m.registered || f.judge.drained(m) {
		return
	}
	if m.inSight() {
		m.trouble = away
		f.run(f.between(0, 3))
	}
	f.hub.edit(func(s *v1alpha1.FederatedHPASpec) {
		s.MaxReplicas = int32(f.between(1, int(upper)-1))
		s.MinReplicas = new(min(s.MaxReplicas, *s.MinReplicas))
		if a := s.FederatedHPAAssignment; f.oneIn(2) { // of which the shares are known
			*a = v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: v1alpha1.AssignmentStaticWeighted}
			return
		}
		f.drawPreferences(s)
	})
	f.judge.edited()
	f.judge.happened("below a silent part")
	f.judge.did("%s is out of sight with %d, and the spec is edited: %s", m.name, upper, f.spec())
}

// spec is the object's in one line.
func (f *fleet) spec() string {
	s, a := &f.hub.object.Spec, f.hub.object.Spec.FederatedHPAAssignment
	if a == nil {
		return "central"
	}
	text := fmt.Sprintf("%d to %d %s %s %s to zero %t%s delay %d", *s.MinReplicas, s.MaxReplicas, a.FederatedHPAAssignmentType,
		a.DistributionOrder, a.ScaleDownOrder, f.judge.toZero(), s.ScalingToZeroMode, *s.AutoscaleMultiClusterDelay)
	if a.Rebalance != nil {
		text += fmt.Sprintf(" rebalance %s each %d", a.Rebalance.Strategy, *a.Rebalance.IntervalSeconds)
	}
	for _, p := range a.ClusterAutoscalingPreference {
		text += fmt.Sprintf(" %s(w%d p%d", inWords(p.TargetCluster), *p.StaticWeight, *p.Priority)
		if p.AutoscalingMinThreshold != nil {
			text += fmt.Sprintf(" lo%d", *p.AutoscalingMinThreshold)
		}
		if p.AutoscalingMaxThreshold != nil {
			text += fmt.Sprintf(" hi%d", *p.AutoscalingMaxThreshold)
		}
		text += ")"
	}
	return text
}

// rivalComesOrGoes puts an autoscaler of a person into a member, or takes it away, or gives it to the hub.
func (f *fleet) rivalComesOrGoes(m *member) {
	f.judge.edited()
	if rival := m.rival(); rival != nil {
		if f.oneIn(2) {
			given := rival.DeepCopy()
			given.Annotations = map[string]string{v1alpha1.AdoptByAnnotation: name}
			m.made++
			given.ResourceVersion = versionOf(m.made)
			m.put(given)
			f.judge.did("%s gives %s to the hub", m.name, rival.Name)
			return
		}
		m.drop(rival)
		f.judge.did("%s has no autoscaler of its own any more", m.name)
		return
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "own", UID: m.nextUID(),
		Generation: 1}}
	m.made++
	hpa.ResourceVersion = versionOf(m.made)
	hpa.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MinReplicas: new(int32(1)), MaxReplicas: 5,
		Metrics: []autoscalingv2.MetricSpec{f.metric()}}
	if m.stored()["own"] == nil {
		m.put(hpa)
		f.judge.did("%s has an autoscaler of its own", m.name)
	}
}
