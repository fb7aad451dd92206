// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsAreRefusedWithAllTheirFaults(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"nothing given": {
			Options{},
			"the lab's folder (--dir) is not set: name one for its state, logs and kubeconfigs",
		},
		"a member called hub": {
			Options{Dir: "d", Members: []Member{{Name: "hub"}}},
			`member "hub": a cluster of this name exists; choose another`,
		},
		"two members of one name, and metrics too often": {
			Options{Dir: "d", Members: []Member{{Name: "a"}, {Name: "a"}}, MetricResolution: time.Second},
			"the metric resolution must be 10s or more, which is the least that metrics-server accepts; got 1s\n" +
				`member "a": a cluster of this name exists; choose another`,
		},
		"a negative number of nodes": {
			Options{Dir: "d", Members: []Member{{Name: "a", Nodes: -1}}},
			`member "a": its nodes must be 1 or more (0 means 2); got -1`,
		},
		"a negative number of real nodes": {
			Options{Dir: "d", Members: []Member{{Name: "a", RealNodes: -1}}},
			`member "a": its real nodes must be 0 or more; got -1`,
		},
		"real nodes of a hub that has no pods": {
			Options{Dir: "d", Hub: Hub{RealNodes: 1}},
			"hub: its real nodes must be 0 or more, and 0 without workloads; got 1",
		},
		"a negative number of real nodes of the hub": {
			Options{Dir: "d", Hub: Hub{Workloads: true, RealNodes: -1}},
			"hub: its real nodes must be 0 or more, and 0 without workloads; got -1",
		},
		"images without real nodes": {
			Options{Dir: "d", Hub: Hub{Workloads: true, Images: []string{"a.tar"}}, Members: []Member{{Name: "a", Images: []string{"a.tar"}}}},
			"hub: it has images and no real nodes, which alone use them; set RealNodes\n" +
				`member "a": it has images and no real nodes, which alone use them; set RealNodes`,
		},
		"a member in Pull mode, without Karmada": {
			Options{Dir: "d", Members: []Member{{Name: "a", Pull: true}}},
			`member "a": there is no Karmada to join in Pull mode; set Karmada`,
		},
		"a name that is no label": {
			Options{Dir: "d", Members: []Member{{Name: "a.b"}}},
			`member "a.b": its name must be a DNS label: must not contain dots`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.options.complete()
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	var log bytes.Buffer
	options, err := Options{Dir: "/d", Members: Members(2), Log: &log}.complete()
	if err != nil {
		t.Fatalf("complete: %v", err)
	}
	if options.MetricResolution != 15*time.Second {
		t.Errorf("metric resolution = %v, want 15s", options.MetricResolution)
	}
	if diff := cmp.Diff([]Member{{Name: "member1"}, {Name: "member2"}}, options.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if got := options.Members[0].plan(); got.nodes != 2 || !got.metricsServer || !got.testAdapter || !got.workloads {
		t.Errorf("a member's plan = %+v, want 2 nodes and everything", got)
	}
	for name, tc := range map[string]struct {
		member           Member
		nodes, realNodes int
	}{
		"real nodes take the place of others": {Member{RealNodes: 1}, 0, 1},
		"both":                                {Member{Nodes: 3, RealNodes: 1}, 3, 1},
	} {
		if got := tc.member.plan(); got.nodes != tc.nodes || got.realNodes != tc.realNodes {
			t.Errorf("%s: %d nodes and %d real ones, want %d and %d", name, got.nodes, got.realNodes, tc.nodes, tc.realNodes)
		}
	}
	if got := options.Hub.plan(); got.metricsServer || got.testAdapter || got.workloads {
		t.Errorf("the hub's plan = %+v, want templates only", got)
	}
}
