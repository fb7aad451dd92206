// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestMetrics(t *testing.T) {
	hub := newHub(map[string]said{
		podMetricsPath: asJSON(usage), groupPath: ofGroup("v1beta2"),
		rpsOfPodsPath: asStatus(503, "", "west is silent"), messagesPath: {kind: "text/html", body: []byte("<html>")},
	})
	client, registry := hub.clientAndMetrics(t)
	client.Ask(t.Context(), question(cpu(), "east"))
	client.Ask(t.Context(), question(cpu(), "east"))
	client.Ask(t.Context(), question(rps(nil), "east"))
	client.Ask(t.Context(), question(queue(nil), "east"))
	client.Ask(t.Context(), question(rpsOf("v1", "Service", "web", nil), "east"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	client.Ask(gone, question(cpu(), "east"))

	want := []string{"custom Absent 1", "custom ServerError 1", "discovery Answered 1", "external BadAnswer 1", "resource Answered 2"}
	fleettest.Same(t, "", want, counted(t, registry))
	if faults, err := testutil.GatherAndLint(registry); err != nil || len(faults) > 0 {
		t.Errorf("promlint: %v, %v", faults, err)
	}
}

// counted are the requests by API and result.
func counted(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, family := range families {
		if family.GetName() != "fleetscale_hub_metrics_request_duration_seconds" {
			t.Errorf("unexpected metric %s", family.GetName())
		}
		for _, m := range family.GetMetric() {
			labels := m.GetLabel() // by name
			all = append(all, fmt.Sprintf("%s %s %d", labels[0].GetValue(), labels[1].GetValue(), m.GetHistogram().GetSampleCount()))
		}
	}
	slices.Sort(all)
	return all
}
