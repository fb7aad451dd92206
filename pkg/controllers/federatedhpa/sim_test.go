// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
)

// life is a world in which things happen by chance, and what must hold whatever happens.
type life struct {
	*world
	r      *rand.Rand
	direct bool // each member is told
	load   int64
	bound  map[string]int32 // what Karmada gives each member
	failed bool             // something could not be written in this reconcile
	lost   bool             // the last reconcile may not be in the status
	edited bool             // the spec was, just before it, and the cache knows
	trace  []string
	count  map[string]int
}

func newLife(t *testing.T, seed uint64) *life {
	l := &life{r: rand.New(rand.NewPCG(seed, 7)), count: map[string]int{}, bound: map[string]int32{}}
	l.world = newWorld(t)
	l.direct = l.r.IntN(3) > 0
	object := federatedhpatest.NewObject("web")
	object.Spec.HorizontalPodAutoscalerSpec = federatedhpatest.RandomSpec(l.r)
	for i := range 1 + l.r.IntN(5) {
		m := l.member(fmt.Sprint("c", i))
		m.startup = time.Duration(l.r.IntN(90)) * time.Second
		m.Offset = time.Duration(l.r.IntN(40)-20) * time.Second
		m.deploy("web", 1+l.r.Int32N(5))
		m.FailSet = func() error { return l.perhaps("a member refuses a write", 12) }
	}
	if l.direct {
		types := []v1alpha1.ReplicaDistributionType{"StaticWeighted", "DynamicWeighted", "LoadWeighted", "Aggregated", "Prioritized"}
		object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: types[l.r.IntN(len(types))], Rebalance: new(l.r.IntN(3) == 0)}
	} else {
		l.hub.workloads[web] = federatedhpatest.NewWorkload("web", 5)
		l.placed = placement.NewKarmada(l.hub, l.Clock)
		l.hub.failSet = func() error { return l.perhaps("the hub refuses a write", 3) }
	}
	l.hub.FailStatus = l.lostStatus
	l.hub.Stale = func() bool { return !l.edited && l.r.IntN(20) == 0 }
	if l.r.IntN(2) == 0 {
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

// perhaps is an error, once in n times. The lock is held.
func (l *life) perhaps(what string, n int) error {
	if l.r.IntN(n) > 0 {
		return nil
	}
	l.count[what]++
	l.failed = true
	return errors.New(what)
}

func (l *life) lostStatus() error {
	switch l.r.IntN(25) {
	case 0:
		l.count["a status that was edited"]++
		l.failed = true
		return apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("somebody wrote since"))
	case 1:
		l.count["a status that cannot be written"]++
		l.failed = true
		return errors.New("no")
	}
	return nil
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
	one := l.members[fmt.Sprint("c", l.r.IntN(len(l.members)))]
	switch l.r.IntN(14) {
	case 0, 1:
		l.load = 50 + l.r.Int64N(3000)
		l.values = []int64{l.load * 1000 / 50}
		l.did("the load is %d", l.load)
	case 2:
		one.Silent = federatedhpatest.Silence()
		l.did("%s is silent", one.About.Name)
	case 3, 4:
		for _, m := range l.members {
			m.Silent = nil
		}
		l.did("all are seen")
	case 5:
		if l.r.IntN(2) == 0 && !l.lost { // what was told but could not be stored, nobody knows any more
			l.restart()
			l.did("there is a new leader")
		}
	case 6:
		if l.r.IntN(4) == 0 {
			l.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.MinReplicas, s.MaxReplicas = new(1+l.r.Int32N(8)), 10+l.r.Int32N(50)
			})
			l.edited = true
			l.did("from %d to %d", *l.object().Spec.MinReplicas, l.object().Spec.MaxReplicas)
		}
	case 7:
		one.room = []int{3, 8, 1000}[l.r.IntN(3)]
		l.did("%s has room for %d", one.About.Name, one.room)
	case 8:
		one.autoscalers = nil
		if l.direct && l.r.IntN(4) == 0 {
			one.autoscalers = []autoscalingv2.CrossVersionObjectReference{federatedhpatest.NewObject("web").Spec.ScaleTargetRef}
			l.did("%s has an autoscaler of its own", one.About.Name)
		}
	}
}

func (l *life) did(what string, args ...any) {
	l.trace = append(l.trace, l.Clock.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(what, args...))
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
	l.did("%d to %d %v %s %v", before, after, l.runs(), say(&object.Status), err)
	most, least := object.Spec.MaxReplicas, *object.Spec.MinReplicas
	switch {
	case l.unseen() && after < before && after < most:
		l.fail("scaled in while a cluster is silent")
	case after > before && after > most && !l.failed: // what was to be taken away may have been refused
		l.fail("scaled out beyond %d", most)
	case after < before && after < least:
		l.fail("scaled in below %d", least)
	}
	for _, w := range l.wrote[wrote:] {
		var name string
		var from, to int32
		if _, err := fmt.Sscanf(w, "%s %d to %d", &name, &from, &to); err != nil || from == to {
			l.fail("written is %q, %v", w, err)
		}
	}
	if writes := l.hub.scaleWrites()[at:]; len(writes) > 1 || len(writes) == 1 && after == before {
		l.fail("written is %v", writes)
	}
	if wait == period && !l.failed && len(l.wrote) > wrote && !l.conflicts() && after != object.Status.DesiredReplicas {
		l.fail("the clusters run %d, and %d are desired", after, object.Status.DesiredReplicas)
	}
	l.count["reconciles"]++
	if after != before {
		l.count["scaled"]++
	}
	if strings.Contains(say(&object.Status), "Held") {
		l.count["held"]++
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

func (l *life) fail(what string, args ...any) {
	l.T.Helper()
	last := l.trace[max(0, len(l.trace)-25):]
	l.T.Fatalf("%s\n%+v\n%s", fmt.Sprintf(what, args...), l.object().Spec, strings.Join(last, "\n"))
}

// calm lets everything be well and the load constant: after a while nothing is written any more. That while may be long:
// policies may let go of one replica in minutes, and replicas that move do so a few at a time.
func (l *life) calm() {
	for _, m := range l.members {
		m.Silent, m.FailSet, m.autoscalers, m.room = nil, nil, nil, 1000
	}
	l.hub.failSet, l.hub.FailStatus, l.hub.Stale = nil, nil, nil
	writes := func() int { return len(l.wrote) + len(l.hub.scaleWrites()) + l.hub.StatusWrites }
	for reconciles, quiet := 0, 0; quiet < 60; reconciles++ {
		before := writes()
		l.sync()
		if quiet++; writes() > before {
			quiet = 0
		}
		if reconciles > 2000 {
			l.fail("something is written forever under a constant load")
		}
	}
}

// Many lives, each of some hundred reconciles.
func TestLives(t *testing.T) {
	count, lives := map[string]int{}, uint64(30)
	if testing.Short() {
		lives = 10
	}
	for seed := range lives {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newLife(t, seed)
			l.sync() // what a cluster runs that never was seen, nobody knows
			for range 300 {
				l.happens()
				l.sync()
			}
			l.calm()
			for what, n := range l.count {
				count[what] += n
			}
		})
		if !ok {
			return
		}
	}
	t.Log(count)
	for _, what := range []string{"scaled", "held", "a member refuses a write", "the hub refuses a write", "a status that was edited",
		"a status that cannot be written"} {
		if count[what] == 0 {
			t.Errorf("%s: %d times", what, count[what])
		}
	}
}
