// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/sim"
)

func newTestWorld(t *testing.T) *world {
	t.Helper()
	w, err := newWorld(t.Context(), 12, plan{Pods: 12 * 2 * members, Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.close() })
	return w
}

func TestBothSidesHaveTheSame(t *testing.T) {
	w := newTestWorld(t)
	hub, err := kubernetes.NewForConfig(w.hub().RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := kubernetes.NewForConfig(w.cluster().RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	pods, err := cluster.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 12*2*members {
		t.Errorf("%d Pods in the cluster, %v", len(pods.Items), err)
	}
	all := 0
	for _, m := range w.fleet.Members() {
		all += len(m.Measured(namespaceOf(0))) + len(m.Measured(namespaceOf(11)))
	}
	if all != 12*2*members {
		t.Errorf("%d Pods in the fleet", all)
	}
	for name, client := range map[string]*kubernetes.Clientset{"hub": hub, "cluster": cluster} {
		scale, err := client.AppsV1().Deployments(namespaceOf(11)).GetScale(t.Context(), nameOf(11), metav1.GetOptions{})
		if err != nil || scale.Spec.Replicas != 2*members {
			t.Errorf("%s: %+v, %v", name, scale, err)
		}
	}
	if secrets, err := hub.CoreV1().Secrets("fleetscale-clusters").List(t.Context(), metav1.ListOptions{}); err != nil ||
		len(secrets.Items) != members {
		t.Errorf("%d members are registered, %v", len(secrets.Items), err)
	}
}

func TestWorkloadsAreJudged(t *testing.T) {
	w := newTestWorld(t)
	check := func(when string, wantBefore, wantAfter int) {
		t.Helper()
		if before, after, err := w.scaled(w.hub()); err != nil || before != wantBefore || after != wantAfter {
			t.Errorf("%s: %d before, %d after, %v", when, before, after, err)
		}
	}
	check("at first", 12, 0)
	for i, n := range []int{w.wanted(), w.wanted(), w.wanted() + 1} {
		if err := w.hub().Scale(sim.Deployment, namespaceOf(i), nameOf(i), n); err != nil {
			t.Fatal(err)
		}
	}
	check("with one that is wrong", 9, 2)
}

func TestTheLoadsChangeIsWatched(t *testing.T) {
	w := newTestWorld(t)
	good, bad := &side{name: ours, at: w.hub()}, &side{name: upstream, at: w.cluster()}
	if err := w.cluster().Scale(sim.Deployment, namespaceOf(3), nameOf(3), 1); err != nil { // before it should
		t.Fatal(err)
	}
	found := map[string]*change{}
	if err := w.compare([]*side{good, bad}, found); err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := range w.autoscalers {
			_ = w.hub().Scale(sim.Deployment, namespaceOf(i), nameOf(i), w.wanted())
			if i < 10 {
				_ = w.cluster().Scale(sim.Deployment, namespaceOf(i), nameOf(i), w.wanted())
			}
		}
	}()
	if err := w.watch(t.Context(), []*side{good, bad}, found, 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if found[ours].Wrong != 0 || found[upstream].Wrong != 1+2 || found[ours].Seconds <= 0 {
		t.Errorf("ours %+v, upstream %+v", found[ours], found[upstream])
	}
}

func TestTheLoadDoubles(t *testing.T) {
	w := newTestWorld(t)
	if err := w.burden(2 * target); err != nil {
		t.Fatal(err)
	}
	for _, m := range append(w.fleet.Members(), w.cluster()) {
		for _, p := range m.Measured(namespaceOf(0)) {
			if cpu := p.Used(1)[0].Usage.Cpu().MilliValue(); cpu < 90 || cpu > 110 {
				t.Fatalf("%s: a Pod uses %dm", m.Name(), cpu)
			}
		}
	}
}

func TestLooksAreTimed(t *testing.T) {
	l := &reconciles{}
	l.drain()
	at := func(name, verb string, second int) {
		l.note(sim.Seen{Request: sim.Request{Verb: verb, Subresource: "scale"}, Namespace: "team", Name: name, At: time.Unix(int64(second), 0)})
	}
	at("a", "get", 1)
	at("b", "get", 2)
	at("a", "update", 3)
	l.keep()
	at("a", "get", 16)
	at("a", "get", 33)
	between, workloads := l.noted()
	if diff := cmp.Diff(measure.Samples{15, 17}, between); diff != "" || workloads != 1 {
		t.Errorf("%d workloads (-want +got):\n%s", workloads, diff)
	}
	l.drain()
	at("a", "get", 40)
	if between, _ := l.noted(); len(between) > 0 {
		t.Errorf("%v since all was forgotten", between)
	}
}

func TestEffortIsThatBetweenTallies(t *testing.T) {
	at := time.Unix(100, 0)
	e := between(
		tally{at: at, decided: 10, faulty: 1, cpu: []time.Duration{time.Second, time.Second}, requests: 5, others: 7},
		tally{at: at.Add(10 * time.Second), decided: 30, faulty: 3, cpu: []time.Duration{2 * time.Second, 4 * time.Second}, requests: 45,
			others: 8})
	want := effort{Seconds: 10, Decisions: 20, Faulty: 2, CPU: []float64{1, 3}, Requests: 40, Others: 1}
	fleettest.Same(t, "", want, e)
	if e.perSecond() != 2 || e.cores() != 0.4 || e.cost(0) != 50 || e.cost(-1) != 200 {
		t.Errorf("%v per second, %v cores, %v and %v ms", e.perSecond(), e.cores(), e.cost(0), e.cost(-1))
	}
}

// example is an outcome in which ours decides twice as often, for half the CPU, all on time.
func example() *outcome {
	mine, theirs := effort{Seconds: 15, Decisions: 100, CPU: []float64{0.04, 0.01}}, effort{Seconds: 15, Decisions: 100, CPU: []float64{0.1}}
	at := func(e effort) *pace {
		p := &pace{Efforts: []effort{e, e}, Decided: 100}
		for range 200 {
			p.Between = append(p.Between, 15.5)
		}
		return p
	}
	busy := mine
	busy.Decisions = 200
	return &outcome{
		Autoscalers: 100, Replicas: 1000, Scaled: 1200,
		Default:    rested{ours: at(mine), upstream: at(theirs)},
		Rest:       rested{ours: at(mine), upstream: at(theirs)},
		Footprints: map[string]footprint{ours: {[]float64{1, 2}, []float64{3, 4}}, upstream: {[]float64{5}, []float64{6}}},
		Changed:    map[string]*change{ours: {Seconds: 3}, upstream: {Seconds: 4}},
		Saturated:  map[string][]effort{ours: {busy, busy}, upstream: {theirs, theirs}},
	}
}

func reached(all []report.Reach) string {
	var met strings.Builder
	for _, r := range all {
		met.WriteByte(map[bool]byte{true: '+', false: '-'}[r.Met])
	}
	return met.String()
}

func TestReaches(t *testing.T) {
	tests := map[string]struct {
		change func(*outcome)
		want   string
	}{
		"all":                 {func(*outcome) {}, "+++++"},
		"one was not decided": {func(o *outcome) { o.Rest[ours].Decided-- }, "-++++"},
		"some were late":      {func(o *outcome) { copy(o.Rest[ours].Between, []float64{17, 17, 17}) }, "-++++"},
		"fewer decisions": {func(o *outcome) { o.Saturated[upstream][0].Decisions, o.Saturated[upstream][1].Decisions = 201, 201 },
			"+-+++"},
		"a controller that costs more": {func(o *outcome) { o.Rest[ours].Efforts[0].CPU[0], o.Rest[ours].Efforts[1].CPU[0] = 0.2, 0.2 },
			"++--+"},
		"an adapter that costs as much": {func(o *outcome) { o.Rest[ours].Efforts[0].CPU[1], o.Rest[ours].Efforts[1].CPU[1] = 0.1, 0.1 },
			"+++-+"},
		"one workload is wrong": {func(o *outcome) { o.Changed[ours].Wrong = 1 }, "++++-"},
	}
	for name, tc := range tests {
		o := example()
		tc.change(o)
		if got := reached(o.reaches(full())); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestSection(t *testing.T) {
	o := example()
	o.Default[upstream] = &pace{Efforts: []effort{{Seconds: 15, Decisions: 30, CPU: []float64{1}}}, Decided: 30}
	s := section(full(), []*outcome{o})
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("%s: %d cells below %d heads", table.Title, len(row), len(table.Header))
			}
		}
	}
	if got, want := s.Tables[0].Rows[1][6], "about 50"; got != want {
		t.Errorf("time between decisions that are too few: %q, want %q", got, want)
	}
	fleettest.Same(t, "", []string{"100", ours, "13.3 (13.3–13.3)", "2 (2–2)"}, s.Tables[2].Rows[0][:4])
	if got := s.Figures["rest/fleetscale/autoscalers=100/cpu_ms"]; !cmp.Equal(got, []float64{0.5, 0.5}) {
		t.Errorf("the figures hold %v", got)
	}
	if err := s.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestPlansAscend(t *testing.T) {
	for name, p := range map[string]plan{"full": full(), "quick": quick()} {
		if p.Rounds < 2 || p.Autoscalers[0] >= p.Autoscalers[len(p.Autoscalers)-1] || p.Pods < members*p.Autoscalers[len(p.Autoscalers)-1] {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
