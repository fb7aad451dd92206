// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
)

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
			l.single(noList, p.Members[0], pods, format.name).cpu = []float64{0.5, 2}
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
	want := []string{"200", "JSON", "2", "1.5 (1–2)", "30 (20–40)", "3 (2–4)", "2 (2–2)", "0.1 (0.1–0.1)", "1.2 (0.5–2)", "1.2 (1–1.5)",
		"4 (4–4)", "2 (2–2)"}
	fleettest.Same(t, "", want, s.Tables[0].Rows[0])
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

func TestReachesOfLists(t *testing.T) {
	const cost, members = "CPU for 200 Pods in JSON, of the encoder's", "CPU for 200 Pods in JSON from 20 members, of that from 2"
	for name, tc := range map[string]struct {
		few, many measure.Samples
		want      map[string]bool
	}{
		"as it should be": {measure.Samples{1.5, 3}, measure.Samples{1.6, 3}, map[string]bool{cost: true, members: true}},
		"dear":            {measure.Samples{1.6, 3.2}, measure.Samples{1.6, 3.2}, map[string]bool{cost: false, members: true}},
		"members cost":    {measure.Samples{1, 2}, measure.Samples{1.2, 2.4}, map[string]bool{cost: true, members: false}},
		"not measured":    {nil, measure.Samples{1, 2}, map[string]bool{cost: false, members: false}},
	} {
		t.Run(name, func(t *testing.T) {
			l := example()
			l.single(ours, 2, 200, "JSON").cpu, l.single(ours, 20, 200, "JSON").cpu = tc.few, tc.many
			s := l.section()
			got := reached(s)
			const why = "an answer without a list costs 1.2 (0.5–2) ms of it; what is left is "
			if missed := !got[cost]; strings.HasPrefix(s.Reaches[0].Why, why) != missed {
				t.Errorf("why it is missed: %q", s.Reaches[0].Why)
			}
			if diff := cmp.Diff(tc.want, map[string]bool{cost: got[cost], members: got[members]}); diff != "" || len(s.Reaches) != 2*2*2 {
				t.Errorf("%d reaches (-want +got):\n%s", len(s.Reaches), diff)
			}
		})
	}
}
