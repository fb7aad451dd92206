// SPDX-License-Identifier: Apache-2.0

package central

import (
	"errors"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Answers of clusters that select their Pods in different ways make one, in which each cluster is as its own answer has it.
func TestJoin(t *testing.T) {
	no := errors.New("no")
	silent := fleet.SilentMember{Cluster: "b", Silence: fleet.Silence{Reason: fleet.ReasonTimeout}}
	pods := func(cluster string) map[string]map[string]replicas.Sample {
		return map[string]map[string]replicas.Sample{cluster: {"web-0": {Value: 5}}}
	}
	empty := func() replicas.Metric {
		return replicas.Metric{Pods: map[string]map[string]replicas.Sample{}, Coverage: &fleet.Coverage{}}
	}
	tests := map[string]struct {
		part     replicas.Metric
		clusters []string
		want     fleet.Coverage
		samples  int // of a
		err      error
	}{
		"without a word on coverage it is whole": {replicas.Metric{Pods: pods("a")}, []string{"a"}, fleet.Coverage{Answered: []string{"a"}}, 1,
			nil},
		"one of two is silent": {replicas.Metric{Pods: pods("a"),
			Coverage: &fleet.Coverage{Answered: []string{"a", "c"}, Silent: []fleet.SilentMember{silent}}},
			[]string{"a", "b"}, fleet.Coverage{Answered: []string{"a"}, Silent: []fleet.SilentMember{silent}}, 1, nil},
		"one that is not mentioned is not proven": {replicas.Metric{Pods: pods("a"), Coverage: &fleet.Coverage{Answered: []string{"a"}}},
			[]string{"a", "d"}, fleet.Coverage{Answered: []string{"a"}}, 1, nil},
		"others' Pods do not count":     {replicas.Metric{Pods: pods("a")}, []string{"b"}, fleet.Coverage{Answered: []string{"b"}}, 0, nil},
		"one that fails makes all fail": {replicas.Metric{Err: no}, []string{"a"}, fleet.Coverage{}, 0, no},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := join(empty(), tc.part, tc.clusters)
			same(t, "coverage", tc.want, *got.Coverage)
			if len(got.Pods["a"]) != tc.samples || !errors.Is(got.Err, tc.err) {
				t.Errorf("%d samples and %v, want %d and %v", len(got.Pods["a"]), got.Err, tc.samples, tc.err)
			}
		})
	}
	failed := join(replicas.Metric{Err: no}, replicas.Metric{Pods: pods("a")}, []string{"a"})
	if !errors.Is(failed.Err, no) {
		t.Error("a later answer fixes an earlier fault")
	}
}
