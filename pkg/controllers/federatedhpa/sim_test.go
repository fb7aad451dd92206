// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// life is a world in which things happen by chance, and what must hold whatever happens.
type life struct {
	*world
	*federatedhpatest.Life
	direct bool // each member is told
	load   int64
	bound  map[string]int32 // what Karmada gives each member
	failed bool             // something could not be written in this reconcile
	lost   bool             // the last reconcile may not be in the status
	edited bool             // the spec was, just before it, and the cache knows
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{world: newWorld(t), Life: federatedhpatest.NewLife(rand.New(rand.NewPCG(seed, 7))), bound: map[string]int32{}}
	l.Hub = l.hub.Hub
	l.direct = l.R.IntN(3) > 0
	object := federatedhpatest.NewObject("web")
	object.Spec.HorizontalPodAutoscalerSpec = federatedhpatest.RandomSpec(l.R)
	for i := range 1 + l.R.IntN(5) {
		m := l.member(fmt.Sprint("c", i))
		m.startup = time.Duration(l.R.IntN(90)) * time.Second
		m.Offset = time.Duration(l.R.IntN(40)-20) * time.Second
		m.deploy("web", 1+l.R.Int32N(5))
		m.FailSet = func() error { return l.fails(l.Perhaps(l.R, "a member refuses a write", 12)) }
	}
	if l.direct {
		types := []v1alpha1.ReplicaDistributionType{"StaticWeighted", "DynamicWeighted", "LoadWeighted", "Aggregated", "Prioritized"}
		object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: types[l.R.IntN(len(types))], Rebalance: new(l.R.IntN(3) == 0)}
	} else {
		l.hub.workloads[web] = federatedhpatest.NewWorkload("web", 5)
		l.placed = placement.NewKarmada(l.hub, l.Clock)
		l.hub.failSet = func() error { return l.fails(l.Perhaps(l.R, "the hub refuses a write", 3)) }
	}
	l.hub.FailStatus = func() error { return l.fails(l.RefuseStatus()) }
	l.hub.Stale = func() bool { return !l.edited && l.R.IntN(20) == 0 }
	if l.R.IntN(2) == 0 {
		object.Spec.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.CPU(50)}
	}
	l.load = 500
	l.use = func(string, string) int64 { return l.load / int64(max(1, l.ready())) }
	l.aged()
	l.propagate()
	l.hub.Put(object)
	l.restart()
	return l
}

// fails notes an error, if there is one.
func (l *life) fails(err error) error {
	l.failed = l.failed || err != nil
	return err
}

func (l *life) ready() int {
	n := 0
	for _, m := range l.members {
		n += len(m.pods)
	}
	return n
}

// propagate is Karmada: it divides the hub's replicas equally, and cannot tell silent members.
func (l *life) propagate() {
	if l.direct {
		return
	}
	w := l.hub.workloads[web]
	names := slices.Sorted(maps.Keys(l.members))
	var clusters []placement.ResourceBindingCluster
	sum := int32(0)
	for i, name := range names {
		m := l.members[name]
		part := w.Replicas / int32(len(names))
		if int32(i) < w.Replicas%int32(len(names)) {
			part++
		}
		if m.Silent == nil {
			m.Workloads["web"].Replicas = part
			m.run("web", int(part))
		}
		sum += m.Workloads["web"].Replicas
		clusters = append(clusters, placement.ResourceBindingCluster{Name: name, Replicas: part})
		l.bound[name] = part
	}
	w.StatusReplicas = sum
	l.bind(max(1, w.Replicas), clusters...)
}

// happens is what may, before a reconcile.
func (l *life) happens() {
	one := l.members[fmt.Sprint("c", l.R.IntN(len(l.members)))]
	switch l.R.IntN(14) {
	case 0, 1:
		l.load = 50 + l.R.Int64N(3000)
		l.values = []int64{l.load * 1000 / 50}
		l.Did("the load is %d", l.load)
	case 2:
		one.Silent = federatedhpatest.Silence()
		l.Did("%s is silent", one.About.Name)
	case 3, 4:
		for _, m := range l.members {
			m.Silent = nil
		}
		l.Did("all are seen")
	case 5:
		if l.R.IntN(2) == 0 && !l.lost { // what was told but could not be stored, nobody knows any more
			l.restart()
			l.Did("there is a new leader")
		}
	case 6:
		if l.R.IntN(4) == 0 {
			l.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.MinReplicas, s.MaxReplicas = new(1+l.R.Int32N(8)), 10+l.R.Int32N(50)
			})
			l.edited = true
			l.Did("from %d to %d", *l.object().Spec.MinReplicas, l.object().Spec.MaxReplicas)
		}
	case 7:
		one.room = []int{3, 8, 1000}[l.R.IntN(3)]
		l.Did("%s has room for %d", one.About.Name, one.room)
	case 8:
		one.autoscalers = nil
		if l.direct && l.R.IntN(4) == 0 {
			one.autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
			l.Did("%s has an autoscaler of its own", one.About.Name)
		}
	}
}

// total returns what the fleet was told, without replicas that run twice.
func (l *life) total() int32 {
	if !l.direct {
		return l.hub.workloads[web].Replicas
	}
	n, known := int32(0), memory{}
	if m := l.program.memories.Find(web); m != nil {
		known = *m
	}
	for name, m := range l.members {
		n += m.Workloads["web"].Replicas - known.central.Moved[name]
	}
	return n
}

// unseen reports whether a cluster is silent which runs something.
func (l *life) unseen() bool {
	for name, m := range l.members {
		if m.Silent != nil && m.Workloads["web"].Replicas > 0 && (l.direct || l.bound[name] > 0) {
			return true
		}
	}
	return false
}

// sync is a reconcile, of which is checked what must hold.
func (l *life) sync() {
	l.failed = false
	before, wrote, at := l.total(), len(l.wrote), len(l.hub.scaleWrites())
	wait, err := l.reconcile(web)
	after, object := l.total(), l.object()
	l.Did("%d to %d %v %s %v", before, after, l.runs(), say(&object.Status), err)
	most, least := object.Spec.MaxReplicas, *object.Spec.MinReplicas
	switch {
	case l.unseen() && after < before && after < most:
		l.Fail("scaled in while a cluster is silent")
	case after > before && after > most && !l.failed: // what was to be taken away may have been refused
		l.Fail("scaled out beyond %d", most)
	case after < before && after < least:
		l.Fail("scaled in below %d", least)
	}
	for _, w := range l.wrote[wrote:] {
		var name string
		var from, to int32
		if _, err := fmt.Sscanf(w, "%s %d to %d", &name, &from, &to); err != nil || from == to {
			l.Fail("written is %q, %v", w, err)
		}
	}
	if writes := l.hub.scaleWrites()[at:]; len(writes) > 1 || len(writes) == 1 && after == before {
		l.Fail("written is %v", writes)
	}
	if wait == period && !l.failed && len(l.wrote) > wrote && !l.conflicts() && after != object.Status.DesiredReplicas {
		l.Fail("the clusters run %d, and %d are desired", after, object.Status.DesiredReplicas)
	}
	l.Count["reconciles"]++
	if after != before {
		l.Count["scaled"]++
	}
	if strings.Contains(say(&object.Status), "Held") {
		l.Count["held"]++
	}
	l.edited, l.lost = false, wait != period
	l.propagate()
	l.Clock.SetTime(l.Clock.Now().Add(period))
}

func (h *hub) scaleWrites() []int32 {
	if w := h.workloads[web]; w != nil {
		return w.Writes
	}
	return nil
}

func (l *life) conflicts() bool {
	for _, m := range l.members {
		if m.Silent != nil || m.autoscalers != nil {
			return true
		}
	}
	return false
}

// rest lets everything be well and the load constant: after a while nothing is written any more. That while may be long:
// policies may let go of one replica in minutes, and replicas that move do so a few at a time.
func (l *life) rest() {
	for _, m := range l.members {
		m.Silent, m.autoscalers, m.room = nil, nil, 1000
	}
	l.hub.Stale = nil
	l.Rest(60, 2000, l.sync, func() int { return len(l.wrote) + len(l.hub.scaleWrites()) + l.hub.StatusWrites })
}

// Many lives, each of some hundred reconciles.
func TestLives(t *testing.T) {
	federatedhpatest.Lives(t, 10, 30, func(t *testing.T, seed uint64) *federatedhpatest.Life {
		l := newLife(t, seed)
		l.sync() // what a cluster runs that never was seen, nobody knows
		for range 300 {
			l.happens()
			l.sync()
		}
		l.rest()
		return l.Life
	}, []string{"scaled", "held", "a member refuses a write", "the hub refuses a write", "the status was edited", "the hub refuses"}, nil)
}
