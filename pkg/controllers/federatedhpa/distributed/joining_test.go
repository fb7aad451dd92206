// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// Registrations that lead nowhere, and never did, get no part, keep none from the others, and hold up no deletion.
func TestDeadRegistrationsGetNothing(t *testing.T) {
	outcome := func(dead int) (map[string]string, []string) {
		w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 12))
		for i := range dead {
			m := w.member(fmt.Sprintf("dead-%d", i))
			m.Joins, m.Silent = true, federatedhpatest.Silence()
		}
		for _, m := range w.members {
			m.scales, m.room = false, 4
		}
		w.mustReconcile(30)
		has, clusters := w.has(), w.clusters()
		w.hub.Remove(web)
		w.mustReconcile(1)
		same(t, "the object is gone", true, w.hub.Objects[web] == nil)
		return has, clusters
	}
	has, clusters := outcome(0)
	same(t, "there is", map[string]string{"a": "web 1-4, runs 2", "b": "web 1-4, runs 2", "c": "web 1-4, runs 2"}, has)
	hasBeside, clustersBeside := outcome(10)
	for name := range hasBeside {
		if _, known := has[name]; !known && hasBeside[name] != "no workload" {
			t.Errorf("%s got %s", name, hasBeside[name])
		}
	}
	for name, want := range has {
		same(t, name+" beside ten of them", want, hasBeside[name])
	}
	same(t, "clusters beside ten of them", clusters, clustersBeside)
}
