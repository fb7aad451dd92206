// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"net/url"
	"testing"

	"github.com/fleetscale/fleetscale/test/sim"
)

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
