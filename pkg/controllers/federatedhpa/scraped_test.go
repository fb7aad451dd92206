// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// What is scraped of a controller-manager while an autoscaler lives through eleven minutes is in testdata/scraped.txt, with what the
// recorder has of the same decisions.
func TestWhatIsScraped(t *testing.T) {
	w := inMembers(t, map[string]int32{"east": 5, "west": 5}, func(f *v1alpha1.FederatedHPA) {
		f.Spec.Metrics = append(f.Spec.Metrics, federatedhpatest.Queue("30"))
	})
	w.values = []int64{120_000}
	s := &scrapes{world: w}
	for _, phase := range []struct {
		percent int64
		queue   int64
		rounds  int
		change  func()
	}{
		{percent: 50, queue: 120, rounds: 4},
		{percent: 90, queue: 120, rounds: 1},
		{percent: 52, queue: 700, rounds: 2},
		{percent: 20, queue: 30, rounds: 2, change: func() { w.members["west"].Silent = federatedhpatest.Silence() }},
		{percent: 21, queue: 30, rounds: 2, change: func() { w.members["west"].Silent = nil }},
		{percent: 30, queue: 30, rounds: 30, change: func() { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 22 }) }},
		{percent: 50, queue: 30, rounds: 2, change: w.restart}, // another leader
	} {
		if phase.change != nil {
			phase.change()
		}
		w.usesPercent(phase.percent)
		w.values = []int64{phase.queue * 1000}
		for range phase.rounds {
			s.round()
		}
	}
	s.round()
	got := s.text(t)
	const file = "testdata/scraped.txt"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, file, string(want), string(got))
}

// scrapes are what the series of a world's autoscaler are after each period.
type scrapes struct {
	*world

	all []scrape
}

type scrape struct {
	at      time.Duration
	text    string
	decided time.Duration
}

// round lets a period pass, with a reconcile and then a scrape at its end.
func (s *scrapes) round() {
	_ = s.reconcileN(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.program.Metrics)
	families, err := registry.Gather()
	if err != nil {
		s.T.Fatal(err)
	}
	is, text := scrape{at: s.Clock.Now().Sub(start), decided: -1}, &bytes.Buffer{}
	for _, family := range families {
		family.Help = nil // which nobody reads here
		if _, err := expfmt.MetricFamilyToText(text, family); err != nil {
			s.T.Fatal(err)
		}
		if family.GetName() == "fleetscale_federatedhpa_decision_timestamp_seconds" {
			is.decided = time.UnixMicro(int64(family.Metric[0].GetGauge().GetValue() * 1e6)).Sub(start)
		}
	}
	if is.text = text.String(); len(s.all) == 0 || s.all[len(s.all)-1].text != is.text {
		s.all = append(s.all, is)
	}
}

// text are the scrapes that differ from the ones before. Each is headed by when it was, and by what the recorder has of the decision that
// it tells of.
func (s *scrapes) text(t *testing.T) []byte {
	t.Helper()
	result, err := replay.Run(s.records.read(t), replay.Options{})
	if err != nil || result.Differences > 0 {
		t.Fatalf("%d differences, %v", result.Differences, err)
	}
	recorded := map[time.Duration]replay.Point{}
	for _, p := range result.Points {
		recorded[p.At.Sub(start)] = p
	}
	text := &bytes.Buffer{}
	fmt.Fprintf(text, "# begins at %d\n", start.Unix())
	for _, scrape := range s.all {
		fmt.Fprintf(text, "# after %v\n", scrape.at)
		if p, is := recorded[scrape.decided]; is {
			was, err := json.Marshal(p.Was)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(text, "# recorded %s\n", was)
		}
		text.WriteString(scrape.text)
	}
	return text.Bytes()
}
