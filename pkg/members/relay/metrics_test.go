// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

const wantMetrics = `
# HELP fleetscale_relay_catalogue_metrics Metrics that a member was last seen to have.
# TYPE fleetscale_relay_catalogue_metrics gauge
fleetscale_relay_catalogue_metrics{api="custom",cluster="east"} 2
fleetscale_relay_catalogue_metrics{api="custom",cluster="west"} 0
# HELP fleetscale_relay_questions_total Queries for a member's custom or external metrics, by how they were served: asked, shared (waited for another's request), kept (from memory), or notasked (known to be away, or the hub itself).
# TYPE fleetscale_relay_questions_total counter
fleetscale_relay_questions_total{api="custom",cluster="east",served="asked"} 3
fleetscale_relay_questions_total{api="custom",cluster="east",served="kept"} 1
fleetscale_relay_questions_total{api="custom",cluster="east",served="notasked"} 1
fleetscale_relay_questions_total{api="custom",cluster="east",served="shared"} 4
fleetscale_relay_questions_total{api="custom",cluster="west",served="notasked"} 9
# HELP fleetscale_relay_requests_total Requests to a member's custom or external metrics API, discovery included, by result: Answered, Absent (no such API, metric or object), or the reason of its silence.
# TYPE fleetscale_relay_requests_total counter
fleetscale_relay_requests_total{api="custom",cluster="east",result="Absent"} 1
fleetscale_relay_requests_total{api="custom",cluster="east",result="Answered"} 3
fleetscale_relay_requests_total{api="custom",cluster="east",result="BadAnswer"} 1
`

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		west.hub = true
		f := newFleetWith(func(o *Options) { o.External = false }, east, west).start(t)
		var askers sync.WaitGroup
		east.Set(func() { east.values = lateBy(time.Second, east) })
		for range 5 {
			askers.Go(func() { f.Custom(t.Context(), podsRPS) })
		}
		askers.Wait()
		f.Custom(t.Context(), podsRPS)
		unknown, broken := podsRPS, podsRPS
		unknown.Metric, broken.Metric = "nonsense", "broken"
		f.Custom(t.Context(), unknown)
		east.Set(func() { east.values = saying(200, "<html>") })
		f.Custom(t.Context(), broken)
		east.Set(func() { goesAway(east) })
		f.Custom(t.Context(), podsRPS)

		names := []string{"fleetscale_relay_requests_total", "fleetscale_relay_questions_total", "fleetscale_relay_catalogue_metrics"}
		if err := testutil.GatherAndCompare(f.registry, strings.NewReader(wantMetrics), names...); err != nil {
			t.Error(err)
		}
		const seconds = "fleetscale_relay_request_duration_seconds"
		if err := testutil.GatherAndCompare(f.registry, strings.NewReader(wantSeconds), seconds); err != nil {
			t.Error(err)
		}
		if problems, err := testutil.GatherAndLint(f.registry); err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v %v", problems, err)
		}

		f.setMembers()
		synctest.Wait()
		wantNoSeries(t, f.registry)
	})
}

const wantSeconds = `
# HELP fleetscale_relay_request_duration_seconds Time from sending a request to a member's custom or external metrics API until its answer or failure.
# TYPE fleetscale_relay_request_duration_seconds histogram
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.005"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.01"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.02"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.04"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.08"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.16"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.32"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="0.64"} 3
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="1.28"} 5
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="2.56"} 5
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="5.12"} 5
fleetscale_relay_request_duration_seconds_bucket{api="custom",le="+Inf"} 5
fleetscale_relay_request_duration_seconds_sum{api="custom"} 2
fleetscale_relay_request_duration_seconds_count{api="custom"} 5
`

func wantNoSeries(t *testing.T, reg *prometheus.Registry) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if text := series.String(); strings.Contains(text, `"cluster"`) {
				t.Errorf("%s has series of departed members: %s", family.GetName(), text)
			}
		}
	}
}

func TestLateRequestsBringNoSeriesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		release := make(chan struct{})
		east.Handle = func(*http.Request) (*http.Response, error) {
			<-release
			return pageNotFound(), nil
		}
		f := startFleet(t, east)
		l := f.custom.lines["east"]
		f.setMembers()
		synctest.Wait()
		close(release)
		synctest.Wait()
		if a := l.put(podsRPS.key()); !a.ended() {
			t.Error("a departed member's answer is waited for")
		}
		l.meter.request(nil, 0)
		l.meter.catalogue(1)
		wantNoSeries(t, f.registry)
	})
}

func TestEndOfOneAPIsSeriesLeavesTheOthers(t *testing.T) {
	metrics := NewMetrics(prometheus.NewPedanticRegistry())
	custom, external := metrics.of("east", "custom"), metrics.of("east", "external")
	other := metrics.of("west", "custom")
	for _, m := range []*meter{custom, external, other} {
		m.catalogue(1)
	}
	custom.end()
	if n := testutil.CollectAndCount(metrics.catalogue); n != 2 {
		t.Errorf("%d series are left, want 2", n)
	}
}
