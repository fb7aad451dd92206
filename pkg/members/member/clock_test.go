// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func TestClockOffset(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	east.ahead = 20 * time.Second
	hub.Put(t, east.secret(t, "east"))
	reg := prometheus.NewPedanticRegistry()
	r := start(t, hub, func(o *Options) { o.Metrics = NewMetrics(reg) })
	r.becomes("east=Ready")
	m := r.member("east")
	about := func(got time.Duration) string { return fmt.Sprint(got.Round(5 * time.Second)) }
	exported := func() (offset time.Duration) {
		for _, seconds := range gathered(t, reg, "fleetscale_cluster_clock_offset_seconds") {
			offset += time.Duration(seconds * float64(time.Second))
		}
		return offset
	}
	seen := func() string {
		offset, known := m.ClockOffset()
		return fmt.Sprintf("%s %v, exported %s", about(offset), known, about(exported()))
	}
	memberstest.Eventually(t, "20s true, exported 20s", seen)
	if strings.Contains(r.log(), "Clock of cluster") {
		t.Error("an alarm about a clock that is believed")
	}
	east.set(func() { east.ahead = -time.Hour })
	memberstest.Eventually(t, "-1m0s true, exported -1h0m0s", seen)
	probes := east.probes.Load()
	memberstest.Eventually(t, "probed", func() string {
		if east.probes.Load() > probes+20 {
			return "probed"
		}
		return "not yet"
	})
	if n := strings.Count(r.log(), "Ignoring the cluster's clock, which is too far from ours"); n != 1 {
		t.Errorf("%d alarms about one clock, want 1", n)
	}
	hub.Remove(memberstest.FleetSecretsPath, "east")
	r.becomes("")
	memberstest.Eventually(t, "0 series", func() string {
		return fmt.Sprintf("%d series", len(gathered(t, reg, "fleetscale_cluster_clock_offset_seconds")))
	})
}

// gathered are the values of a gauge's series.
func gathered(t *testing.T, reg *prometheus.Registry, name string) (values []float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatalf("gathering: %v", err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			values = append(values, m.GetGauge().GetValue())
		}
	}
	return values
}
