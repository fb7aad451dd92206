// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"net/url"
	"testing"

	"github.com/fleetscale/fleetscale/test/sim"
)

func TestSumOfSeries(t *testing.T) {
	const text = `# TYPE done_total counter
done_total{action="none",error="none"} 40
done_total{action="scale_up",error="none"} 2
done_total{action="none",error="internal"} 1
done_total_more{error="none"} 100
`
	for label, want := range map[string]float64{`error="none"`: 42, `error="internal"`: 1, `action="none"`: 41, `error="spec"`: 0} {
		if got, err := sumOf(text, "done_total", label); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", label, got, err, want)
		}
	}
	if _, err := sumOf(`done_total{error="none"} many`, "done_total", `error="none"`); err == nil {
		t.Error("many is a number")
	}
}

func TestWhoAsksIsPassedOn(t *testing.T) {
	hub, _ := member(t)
	behind, server := member(t)
	if err := behind.Run(sim.Workload{Namespace: "shop", Name: "web", Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(behind.URL())
	if err != nil {
		t.Fatal(err)
	}
	hub.Delegate("metrics.k8s.io", passingOn(to, server.Client))
	at, err := NewServer(hub.RESTConfig(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// The member behind knows another token, and server's client leaves alone the one that is there.
	if _, err := at.List(t.Context(), "shop", 3); err == nil {
		t.Error("somebody else's credentials were used")
	}
	asked := behind.Requests()[sim.Request{Verb: "list", Group: "metrics.k8s.io", Resource: "pods"}]
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
