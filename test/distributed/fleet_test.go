// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	fleets "github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

const (
	// period is that in which the hub reconciles, and the members' autoscalers do.
	period = 15 * time.Second
	// grace is how long a cluster is silent before the others take its place over.
	grace = 5 * time.Minute
	// request is what one Pod requests, in milli.
	request = 1000
)

// fleet is a hub and its members, which share a load.
type fleet struct {
	dice
	hub      *hub
	members  []*member
	judge    *judge
	program  *distributed.Mode
	memories *perobject.Store[distributed.Memory]
	recorder *record.Recorder
	plant    fault // planted, for the judge to find

	load     int64 // in milli of what Pods request, of all members
	slope    int64 // by which it changes in a round
	shared   bool  // each Ready Pod carries as much as any other, wherever it is
	external bool  // the metric is a queue of which each replica should have a part
	prompt   bool  // members' autoscalers reconcile once at what was written
	chosenBy choice
	awayFor  int // rounds for which the hub will not reconcile
	rounds   int
	ambush   bool // no workload can be scaled; once that was tried, the load changes
	ambushed bool

	lock  sync.Mutex
	dead  bool // the program has ended in the middle of a reconcile
	crash *crash
}

// crash is where a program ends.
type crash struct {
	afterStatus bool            // right after it has stored the status
	lost        map[string]bool // before it has written to these members
}

func newFleet(seed uint64) *fleet {
	f := &fleet{dice: dice{rand.New(rand.NewPCG(seed, 1))}}
	f.judge = &judge{f: f, fired: map[string]bool{}, seed: seed}
	f.hub = &hub{fleet: f}
	return f
}

func (f *fleet) addMember(name string) *member {
	m := &member{fleet: f, name: name, labels: map[string]string{}, registered: true, selected: true, version: "autoscaling/v2",
		applied: map[string]metav1.ObjectMeta{},
		hpas:    cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	m.autoscaler = newAutoscaler(m)
	f.members = append(f.members, m)
	return m
}

// begin starts the programs.
func (f *fleet) begin() {
	f.restart()
	pass(time.Second) // the members' controllers check whether their caches are filled
	synctest.Wait()
}

func (f *fleet) end() {
	for _, m := range f.members {
		m.autoscaler.stop()
	}
	synctest.Wait()
}

// restart is a program that remembers nothing.
func (f *fleet) restart() {
	f.dead, f.crash = false, nil
	grace := grace
	if f.plant.hasty {
		grace = time.Second
	}
	f.memories, f.recorder = &perobject.Store[distributed.Memory]{}, record.New(f.plant.hub(f.hub), recorder{f})
	f.program = distributed.New(distributed.Options{
		Live: f.hub, Fleet: &sight.Reader{Reader: selection.Reader{Fleet: f, Timeout: 5 * time.Second}, Clock: realClock{}}, Recorder: f.recorder,
		Ask:   f,
		Grace: grace, Rest: 2 * time.Minute, WindowStep: 2 * time.Minute, CreateWorkloads: true, Window: window,
		Tolerance: tolerance, Metrics: distributed.NewMetrics(prometheus.NewRegistry()),
	})
	f.judge.restarted()
}

// realClock is the bubble's.
type realClock struct{}

func (realClock) Now() time.Time                  { return time.Now() }
func (realClock) Since(t time.Time) time.Duration { return time.Since(t) }

func (f *fleet) isDead() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.dead
}

// Settled implements workload.Fleet.
func (f *fleet) Settled() error { return nil }

// Clusters implements workload.Fleet.
func (f *fleet) Clusters() []workload.Cluster {
	var all []workload.Cluster
	for _, m := range f.members {
		if m.registered && (m.trouble == well || !f.plant.hide) {
			all = append(all, f.plant.member(api{m: m}))
		}
	}
	return all
}

// Ask answers for the members that are well.
func (f *fleet) Ask(_ context.Context, q hubmetrics.Question) replicas.Metric {
	answer := replicas.Metric{Coverage: &fleets.Coverage{}, Pods: map[string]map[string]replicas.Sample{}}
	for _, m := range f.members {
		if !m.inSight() {
			answer.Coverage.Silent = append(answer.Coverage.Silent, fleets.SilentMember{Cluster: m.name, Silence: *silence()})
			continue
		}
		answer.Coverage.Answered = append(answer.Coverage.Answered, m.name)
		samples := map[string]replicas.Sample{}
		for _, p := range m.pods {
			if p.isReady() {
				samples[p.name()] = replicas.Sample{Value: m.use(), At: time.Now(), Window: period}
			}
		}
		answer.Pods[m.name] = samples
	}
	if q.Metric.External != nil {
		answer.Pods, answer.Values = nil, []int64{f.waiting()}
	}
	return answer
}

// waiting is the queue of all members that are in sight.
func (f *fleet) waiting() (sum int64) {
	if f.shared {
		return f.load
	}
	for _, m := range f.members {
		if m.inSight() {
			sum += m.load
		}
	}
	return sum
}

// ready are the Ready Pods that carry the same load as the member's.
func (m *member) carriers() int64 {
	if !m.fleet.shared {
		return int64(m.readyPods())
	}
	n := 0
	for _, other := range m.fleet.members {
		n += other.readyPods()
	}
	return int64(n)
}

// use returns what one Ready Pod of the member carries.
func (m *member) use() int64 {
	load := m.load
	if m.fleet.shared {
		load = m.fleet.load
	}
	return load / max(1, m.carriers())
}

// queue is the member's part of what waits.
func (m *member) queue() int64 {
	if !m.fleet.shared {
		return m.load
	}
	return m.use() * int64(m.readyPods())
}

// goal returns what one replica should carry.
func (f *fleet) goal() int64 { return request / 2 }

// ratio is the load over its target, of the member.
func (m *member) ratio() float64 { return float64(m.use()) / float64(m.fleet.goal()) }

// metric is the one of the spec.
func (f *fleet) metric() autoscalingv2.MetricSpec {
	if f.external {
		return externalMetric(f.goal())
	}
	return cpuMetric(int32(100 * f.goal() / request))
}

// round is one period: Pods come and go, the members' autoscalers reconcile, and the hub.
func (f *fleet) round() {
	f.rounds++
	f.load = min(300*request, max(0, f.load+f.slope))
	f.settle()
	f.autoscale(false)
	pass(untilReconcile)
	f.settle()
	began := time.Now()
	if f.awayFor > 0 {
		f.awayFor--
	} else {
		f.sync()
	}
	f.settle()
	if f.prompt {
		f.autoscale(true)
		f.settle()
	}
	f.judge.afterRound()
	pass(max(0, period-untilReconcile-time.Since(began)))
}

func (f *fleet) settle() {
	now := time.Now()
	for _, m := range f.members {
		m.settle(now)
	}
}

// autoscale lets all members' autoscalers reconcile, or those whose bounds were changed.
func (f *fleet) autoscale(changed bool) {
	for _, m := range f.members {
		if m.touched || !changed {
			m.autoscaler.sync()
		}
	}
	synctest.Wait()
}

// reconcile returns what the controller does with an object of distributed mode.
func (f *fleet) reconcile(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if f.recorder.Stale(object) {
		return record.Conflict(object, "it is known only as before our own last write")
	}
	if object.DeletionTimestamp == nil && !object.Distributed() {
		return f.central(ctx, object)
	}
	return f.program.Reconcile(ctx, object, f.memories.Of(object))
}

// sync is one reconcile of the hub.
func (f *fleet) sync() {
	if f.hub.object == nil {
		return
	}
	ctx, cancel := context.WithTimeout(klog.NewContext(context.Background(), logr.Discard()), 30*time.Second)
	defer cancel()
	before := map[*member][]*autoscalingv2.HorizontalPodAutoscaler{}
	for _, m := range f.members {
		before[m] = m.listing()
	}
	f.judge.begins()
	err := f.reconcile(ctx, f.hub.read())
	synctest.Wait()
	f.judge.ends(err)
	for _, m := range f.members {
		m.old = nil
		if m.lags {
			m.old, m.lags = before[m], false
		}
	}
	if f.crash != nil {
		f.judge.did("the program ends in the middle: %v", *f.crash)
		f.restart()
		if f.oneIn(2) {
			f.changeLoad()
		}
	}
	if f.ambushed {
		f.ambushed = false
		f.changeLoad()
	}
}

// changeLoad changes the load while what the hub wanted is not done yet.
func (f *fleet) changeLoad() {
	f.judge.disturbed()
	f.anyLoad()
	f.judge.did("meanwhile the load is %d", f.load/f.goal())
}

func (f *fleet) String() string {
	s := fmt.Sprintf("load %d:", f.load/f.goal())
	for _, m := range f.members {
		lower, upper := m.bounds()
		s += fmt.Sprintf(" %s %d-%d runs %d", m.name, lower, upper, m.replicas())
		if n := m.pending(); n > 0 {
			s += fmt.Sprintf(" (%d pending)", n)
		}
		if m.held() {
			s += " held"
		}
		if m.trouble != well || m.refuses || m.balks || !m.registered || !m.selected || m.rival() != nil || m.workload == nil || m.taint != "" {
			s += fmt.Sprintf(" [trouble %d, refuses %t, balks %t, registered %t, selected %t, rival %t, workload %t, taint %q]",
				m.trouble, m.refuses, m.balks, m.registered, m.selected, m.rival() != nil, m.workload != nil, m.taint)
		}
		s += ";"
	}
	return s
}

// untilReconcile is the time between the members' reconciles and the hub's.
const untilReconcile = 5 * time.Second

// pass lets time pass. It is the bubble's, which moves on at once when all in it wait: nothing here takes real time, and
// how busy the machine is changes nothing.
func pass(d time.Duration) { time.Sleep(d) }
