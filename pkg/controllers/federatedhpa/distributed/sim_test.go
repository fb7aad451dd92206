// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// life is a world in which things happen by chance.
type life struct {
	*world
	*federatedhpatest.Life
	load int32 // of the fleet, in percent of what a Pod requests
}

var policies = []v1alpha1.FederatedHPAAssignmentType{"Duplicated", "StaticWeighted", "DynamicWeighted", "Aggregated", "Prioritized"}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{Life: federatedhpatest.NewLife(rand.New(rand.NewPCG(seed, 11))), load: 500}
	l.world = newWorld(t, policies[l.R.IntN(len(policies))], l.spec)
	l.Hub = l.hub.Hub
	l.hub.workload = template(nil)
	l.uses = func(*member) int32 { return l.load / max(1, l.running()) }
	for i := range 1 + l.R.IntN(5) {
		m := l.member(fmt.Sprint("c", i))
		m.Offset = time.Duration(l.R.IntN(40)-20) * time.Second
		own := rand.New(rand.NewPCG(seed, 100+uint64(i))) // members are asked side by side, in any order
		m.flaky = func() error { return l.Perhaps(own, "a member refuses", 25) }
		if m.room = 5 + l.R.Int32N(40); l.R.IntN(4) > 0 {
			m.deploy(l.R.Int32N(5))
		}
	}
	l.hub.FailStatus = l.RefuseStatus
	return l
}

// spec makes up what a person may want.
func (l *life) spec(f *v1alpha1.FederatedHPA) {
	a := f.Spec.FederatedHPAAssignment
	lower := 1 + l.R.Int32N(6)
	bounds(lower, lower+l.R.Int32N(40))(f)
	numbers := map[string]int32{}
	for i := range 5 {
		if l.R.IntN(6) > 0 {
			numbers[fmt.Sprint("c", i)] = l.R.Int32N(4)
		}
	}
	switch a.FederatedHPAAssignmentType {
	case "StaticWeighted":
		weighs(numbers)(f)
	case "Prioritized":
		ranks(numbers)(f)
		a.ScaleDownOrder = []v1alpha1.ScaleDownOrder{"Strict", "BestEffort"}[l.R.IntN(2)]
	}
	f.Spec.ScalingToZero = new(l.R.IntN(2) == 0)
	f.Spec.ClusterAffinity = nil
	if l.R.IntN(2) == 0 {
		only("c0", "c1", fmt.Sprint("c", l.R.IntN(5)))(f)
	}
}

func (l *life) running() (n int32) {
	for _, m := range l.members {
		if m.deployment() != nil {
			n += min(m.deployment().Replicas, m.room)
		}
	}
	return n
}

// happens is what may, before a reconcile.
func (l *life) happens() {
	one := l.members[fmt.Sprint("c", l.R.IntN(len(l.members)))]
	switch l.R.IntN(18) {
	case 0, 1:
		l.load = 50 + l.R.Int32N(2500)
		l.Did("the load is %d", l.load)
	case 2:
		one.Silent = federatedhpatest.Silence()
		l.Did("%s is silent", one.About.Name)
	case 3:
		one.hidden, one.mute = federatedhpatest.Silence(), errRefused
		l.Did("%s shows no Pods and no scale", one.About.Name)
	case 4, 5, 6:
		l.visible()
		l.Did("all are seen")
	case 7:
		l.visible()
		l.shown = nil
		l.restart()
		l.Did("there is a new leader")
	case 8:
		if l.R.IntN(4) == 0 {
			l.edit(l.spec)
			l.Did("the spec is another one")
		}
	case 9:
		one.room = l.R.Int32N(60)
		l.Did("%s has room for %d", one.About.Name, one.room)
	case 10:
		if one.Silent == nil && !one.isFrozen {
			one.freeze()
			l.Did("the mirror of %s lags", one.About.Name)
		}
	case 11:
		l.shown = l.object()
	case 12:
		if one.deployment() != nil && one.Silent == nil {
			one.undeploy()
			l.Did("%s loses its workload", one.About.Name)
		}
	case 13:
		l.meddle(one)
	}
}

// meddle is somebody who changes or deletes an autoscaler of ours, or makes one of his own.
func (l *life) meddle(one *member) {
	hpa := one.hpas["web"]
	switch what := l.R.IntN(3); {
	case one.isFrozen || one.Silent != nil:
	case what == 0 && hpa != nil:
		other := hpa.DeepCopy()
		other.Spec.MaxReplicas += l.R.Int32N(20) - 5
		if other.Spec.MaxReplicas >= ptr.Deref(other.Spec.MinReplicas, 0) {
			one.store(other, hpa.behaves)
			l.Did("%s has bounds to %d by hand", one.About.Name, other.Spec.MaxReplicas)
		}
	case what == 1 && hpa != nil:
		delete(one.hpas, "web")
		l.Did("%s loses its autoscaler", one.About.Name)
	case what == 2 && len(one.hpas) < 2:
		annotations := map[string]string{}
		if l.R.IntN(2) == 0 {
			annotations[v1alpha1.AdoptByAnnotation] = "web"
		}
		one.add("theirs", "web", annotations)
		l.Did("%s has an autoscaler of its own, %v", one.About.Name, annotations)
	}
}

func (l *life) visible() {
	for _, m := range l.members {
		m.Silent, m.hidden, m.mute = nil, nil, nil
		m.thaw()
		if theirs := m.hpas["theirs"]; theirs != nil && theirs.Labels[v1alpha1.ManagedByLabel] == "" {
			delete(m.hpas, "theirs")
		}
	}
}

func (l *life) sync() {
	l.writes()
	l.Heard()
	err := l.reconcile()
	l.explained()
	l.shown = nil
	told := l.Heard()
	l.Did("%v %v %v %v %v", l.has(), l.intends(), l.writes(), told, err)
	for _, line := range told {
		l.Count[strings.Split(line, ":")[0]]++
	}
	for _, name := range slices.Sorted(maps.Keys(l.members)) { // a mirror lags for less than two reconciles
		m := l.members[name]
		if m.isFrozen && l.R.IntN(2) == 0 || m.frozenFor > 0 {
			m.thaw()
		} else if m.isFrozen {
			m.frozenFor++
		}
	}
	l.passes(period)
	if l.T.Failed() {
		l.Fail("see above")
	}
}

// explained: the explanation is of the bounds in the status.
func (l *life) explained() {
	object := l.object()
	if object.Status.Explanation == nil {
		return
	}
	for _, c := range object.Status.Explanation.Split.Clusters {
		told := sight.Before(object, c.Name)
		lower, upper := ptr.Deref(told.AssignedMin, c.Min), ptr.Deref(told.AssignedMax, c.Max)
		if lower != c.Min || upper != c.Max {
			l.Fail("the bounds of %s are explained as %d-%d, and are %d-%d", c.Name, c.Min, c.Max, lower, upper)
		}
	}
}

// rest lets all be well, and the load be constant: after a while nothing is written any more.
func (l *life) rest() {
	l.visible()
	l.load = []int32{60, 500, 1500}[l.R.IntN(3)]
	l.Did("all is well")
	l.Rest(45, 600, l.sync, func() int { return l.hub.Version })
}

// atRest is what must be so in the end.
func (l *life) atRest() {
	object := l.object()
	sum, parts := int32(0), 0
	for _, c := range object.Status.Clusters {
		sum += ptr.Deref(c.AssignedMax, 0)
		if c.State != v1alpha1.ClusterExcluded && c.State != v1alpha1.ClusterConflict {
			parts++
		}
	}
	if want := object.Spec.MaxReplicas; object.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType != "Duplicated" && parts > 0 &&
		sum != want {
		l.Fail("the maxima are %d of %d", sum, want)
	}
	intends := l.intends()
	for _, name := range slices.Sorted(maps.Keys(l.members)) {
		l.asIntended(l.members[name], intends[name])
	}
	if least := min(*object.Spec.MinReplicas, object.Spec.MaxReplicas); parts > 0 && object.Status.CurrentReplicas < least {
		l.Fail("%d run, of at least %d", object.Status.CurrentReplicas, least)
	}
}

func (l *life) asIntended(m *member, intended string) {
	has := "0-0"
	for _, hpa := range m.hpas {
		if claims.Ours(hpa.HorizontalPodAutoscaler, "uid-of-web") {
			if has != "0-0" {
				l.Fail("%s has two of ours", m.About.Name)
			}
			has = fmt.Sprintf("%d-%d", ptr.Deref(hpa.Spec.MinReplicas, 0), hpa.Spec.MaxReplicas)
		}
	}
	selected, err := assignment.Matches(l.hub.Objects[web].Spec.ClusterAffinity, m.About)
	if err != nil {
		l.T.Error(err)
	}
	if selected && intended != has || !selected && has != "0-0" {
		l.Fail("%s has %s, and %s is intended", m.About.Name, has, intended)
	}
}

// Many lives, each of some hundred reconciles. Every write of each is judged.
func TestLives(t *testing.T) {
	federatedhpatest.Lives(t, 6, 100, func(t *testing.T, seed uint64) *federatedhpatest.Life {
		l := newLife(t, seed)
		for range 150 {
			l.happens()
			l.sync()
		}
		l.rest()
		l.atRest()
		l.restart()
		before := l.hub.Version
		for range 5 {
			l.sync()
		}
		if l.hub.Version != before {
			l.Fail("a new leader is not content")
		}
		return l.Life
	}, []string{"a member refuses", "the status was edited", "the hub refuses", "BoundsSplit", "BoundsTakenOver"},
		[]string{"MaximumSpilled", "ScaledFromZero", "ScaledToZero", "MinimumMoved", "MaximumMovedToCapacity", "WorkloadCreated",
			"WorkloadDeleted"})
}
