// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/test/bench/encoder"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// TestMain stands in for main: the encoder runs in another process of this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == encoder.Argument {
		if err := encoder.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

func newFleet(t *testing.T, members int) *sim.Fleet {
	t.Helper()
	fleet, err := sim.New(t.Context(), sim.Options{Members: members})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleet.Close() })
	return fleet
}

// server is a simulated member in the place of an adapter.
func server(t *testing.T, m *sim.Member) *stage.Server {
	t.Helper()
	s, err := stage.NewServer(m.RESTConfig(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPodsAreSpreadEvenly(t *testing.T) {
	fleet := newFleet(t, 3)
	if err := spread(fleet.Members(), shop, 11); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 4, 3} {
		if _, err := server(t, fleet.Members()[i]).List(t.Context(), shop, want); err != nil {
			t.Errorf("member %d: %v", i, err)
		}
	}
	if err := spread(fleet.Members(), shop, 11); err == nil {
		t.Error("twice is fine")
	}
}

// A server that begins with less than the whole is told from one that refuses at first.
func TestStartsAreWatched(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	m.Behave(sim.Conduct{Failing: 1})
	begin := time.Now()
	var b beginning
	watched := make(chan error, 1)
	go func() {
		var err error
		b, err = watchStart(t.Context(), server(t, m), 2, begin)
		watched <- err
	}()
	asked := func() int { return m.Requests().Of("metrics.k8s.io") }
	for asked() < 3 {
		if err := pass(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	m.Behave(sim.Conduct{})
	for seen := asked(); asked() < seen+3; {
		if err := pass(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Run(sim.Workload{Namespace: namespaceOf(2), Name: "web", Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	if b.wrong < 2 || b.lacking != 0 || b.whole <= 0 || b.whole > time.Since(begin).Seconds() {
		t.Errorf("%+v", b)
	}
}

func TestAutoscalersAskForTheirs(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	if a := (askers{n: 3, apart: true}); a.namespace(0) == a.namespace(1) || (askers{n: 3}).namespace(0) != (askers{n: 3}).namespace(1) {
		t.Error("namespaces are shared, or not, in the wrong case")
	}
	var refused atomic.Int64
	ask := askers{n: 1}
	m.Behave(sim.Conduct{Failing: 1})
	ask.askOnce(t.Context(), server(t, m), 0, &refused)
	m.Behave(sim.Conduct{})
	ask.askOnce(t.Context(), server(t, m), 0, &refused)
	if got := m.Requests()[sim.Request{Verb: "list", Group: "metrics.k8s.io", Resource: "pods"}]; got != 2 || refused.Load() != 1 {
		t.Errorf("asked %d times, refused %d", got, refused.Load())
	}
}

func TestCustomQuestionsHaveAnswers(t *testing.T) {
	fleet := newFleet(t, 1)
	if err := setFigures(fleet); err != nil {
		t.Fatal(err)
	}
	s := server(t, fleet.Members()[0])
	for _, q := range customQuestions() {
		for _, n := range []int{0, 1, distinct, distinct + 1} {
			if code := codeOf(t, s, q.path(n)); code != http.StatusOK {
				t.Errorf("%s: %d to GET %s", q.name, code, q.path(n))
			}
		}
	}
}

func codeOf(t *testing.T, s *stage.Server, path string) int {
	t.Helper()
	result := measure.Ask(t.Context(), s.Client, measure.Question{URL: func(int) string { return s.URL + path }, Accept: stage.JSON}, measure.Load{Clients: 1})
	for code := range result.Refused {
		return code
	}
	return http.StatusOK
}

// example is an experiment of two rounds in which the adapter takes twice the
// encoder's time, and a tenth of the metrics-server's.
func example() *lister {
	p := plan{Rounds: 2, Members: []int{2, 20}, Pods: []int{200, 2000}, Clients: []int{1, 8}}
	l := &lister{plan: p, log: io.Discard, cells: map[cell]*listing{}}
	for _, pods := range p.Pods {
		for _, format := range formats {
			for _, members := range p.Members {
				alone := l.at(cell{encoderAlone, members, pods, format.name, false, 0})
				alone.cpu, alone.bytes = []float64{1, 2}, []float64{1024, 1024}
			}
			for _, gzip := range []bool{false, true} {
				for _, clients := range p.Clients {
					for _, members := range append([]int{0}, p.Members...) {
						c, cpu := cell{ours, members, pods, format.name, gzip, clients}, []float64{2, 4}
						if members == 0 {
							c.server, cpu = metricsServer, []float64{20, 40}
						}
						kept := l.at(c)
						kept.cpu, kept.bytes, kept.allocated = cpu, []float64{2048, 2048}, []float64{4096, 4096}
						kept.p50, kept.p90, kept.p99, kept.perSecond = []float64{5, 5}, []float64{6, 6}, []float64{7, 7}, []float64{200, 200}
					}
				}
			}
		}
	}
	return l
}

func TestSectionOfLists(t *testing.T) {
	s := example().section()
	want := []string{"200", "JSON", "2", "1.5 (1–2)", "30 (20–40)", "3 (2–4)", "2 (2–2)", "0.1 (0.1–0.1)", "4 (4–4)", "2 (2–2)"}
	if diff := cmp.Diff(want, s.Tables[0].Rows[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.Tables[0].Rows[1][7]; got != "–" {
		t.Errorf("the ratio to a peer that was measured at another time is %s", got)
	}
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("%s: %d cells below %d heads", table.Title, len(row), len(table.Header))
			}
		}
	}
	if got, want := len(s.Tables[1].Rows), 2*2*2*3; got != want {
		t.Errorf("%d rows of latencies, want %d", got, want)
	}
	if got := s.Figures["adapter/members=2/pods=200/JSON/gzip=true/clients=8/cpu_ms"]; !cmp.Equal(got, []float64{2, 4}) {
		t.Errorf("the figures hold %v", got)
	}
	if err := s.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsToldForEachPod(t *testing.T) {
	g := &growth{plan: plan{Known: []int{1000, 2000}, KnownMembers: 10, For: time.Second}, joined: footprint{heap: 20 * mib},
		known: []footprint{{heap: 20*mib + 200_000, resident: 40 * mib}, {heap: 20*mib + 600_000, resident: 50 * mib}}, refused: map[int]int{429: 7}}
	peer := peerMemory{pods: 1000, before: footprint{heap: mib}, with: footprint{heap: mib + 800_000}}
	s := g.section(footprint{heap: 10 * mib}, peer)
	var each []string
	for _, row := range s.Tables[0].Rows {
		each = append(each, row[3]+" "+row[4]+" "+row[5])
	}
	if diff := cmp.Diff([]string{"800 – 1", "200 – 0.25", "300 400 0.38"}, each); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := strings.Join(s.Text, "\n")
	for _, want := range []string{"1024 KiB", "7 (429"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, codes := range map[string]map[int]int{"none": {}, "3 (429, come back later)": {429: 3}, "map[0:1 429:3]": {429: 3, 0: 1}} {
		if got := refusals(codes); got != want {
			t.Errorf("%v: %q, want %q", codes, got, want)
		}
	}
}

func TestPlansAscend(t *testing.T) {
	for name, p := range map[string]plan{"full": full(), "quick": quick()} {
		if p.Rounds < 3 || p.Members[0] >= p.Members[len(p.Members)-1] || p.Known[0] >= p.Known[len(p.Known)-1] {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestAnyServerIsMeasured(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	if err := m.Run(sim.Workload{Namespace: shop, Name: "web", Replicas: 7}); err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]measure.Process{"one of this machine": measure.Process(os.Getpid()), "one that is elsewhere": 0} {
		t.Run(name, func(t *testing.T) {
			s := server(t, m)
			s.PID = pid
			const short = 5 * time.Millisecond
			section, err := listsOf(t.Context(), s, []string{shop}, plan{Rounds: 2, For: short, Settle: short, Clients: []int{1, 3}}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			rows := section.Tables[0].Rows
			if len(rows) != 4 || rows[3][1] != "7" || rows[3][3] != "3" || !strings.Contains(rows[0][8], "(") {
				t.Errorf("%v", rows)
			}
			if known := rows[0][7] != "–"; known != (pid != 0) {
				t.Errorf("its CPU is told as %s", rows[0][7])
			}
			m.Behave(sim.Conduct{Failing: 1})
			defer m.Behave(sim.Conduct{})
			if _, err := listsOf(t.Context(), s, []string{shop}, plan{Rounds: 1, Clients: []int{1}}, io.Discard); err == nil {
				t.Error("a server that fails was measured")
			}
		})
	}
}
