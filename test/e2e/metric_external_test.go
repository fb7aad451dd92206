// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
)

// A queue that every cluster's adapter sees is one queue, and not three.
func TestQueueSeenByAllIsCountedOnce(t *testing.T) {
	e := whole(t)
	const metric = "queue_of_all"
	for member, value := range map[string]string{"member1": "40", "member2": "42", "member3": "41"} {
		e.tellSeries(t, member, metric, map[string]string{"name=mail": value})
	}
	for selector, want := range map[string]string{
		"":                        "name=mail 42",
		"name=mail":               "name=mail 42",
		"fleetscale.io/merge=max": "name=mail 42",
		"fleetscale.io/merge=min": "name=mail 40",
		"fleetscale.io/merge=avg": "name=mail 41",
		"fleetscale.io/merge=sum": "name=mail 123",
		"fleetscale.io/merge=sum,fleetscale.io/cluster!=member2": "name=mail 81",
	} {
		e.wants(t, externalMetric(metric, selector), whollyTells(want))
	}
}

// Queues of their own are as many series, and selectors choose among them.
func TestQueuesOfEachMember(t *testing.T) {
	e := whole(t)
	const metric = "queue_of_each"
	e.tellSeries(t, "member1", metric, map[string]string{"name=mail,region=eu": "1", "name=print,region=eu": "2"})
	e.tellSeries(t, "member3", metric, map[string]string{"name=mail,region=us": "4"})
	eu, us, print := "name=mail,region=eu 1", "name=mail,region=us 4", "name=print,region=eu 2"
	for selector, want := range map[string][]string{
		"":                               {eu, us, print},
		"name=mail":                      {eu, us},
		"region in (us,asia)":            {us},
		"name,region notin (us)":         {eu, print},
		"fleetscale.io/cluster=member1":  {eu, print},
		"fleetscale.io/cluster!=member1": {us},
		"name=mail,fleetscale.io/cluster in (member1, member2)": {eu},
	} {
		e.wants(t, externalMetric(metric, selector), whollyTells(want...))
	}
	e.wants(t, externalMetric(metric, "name=nobody"), refuses(http.StatusNotFound, append(allMembers(), "without such a series")...))
}

func TestExternalMetricThatNobodyHas(t *testing.T) {
	e := whole(t)
	e.wants(t, externalMetric("nobody_has_this"), refuses(http.StatusNotFound, append(allMembers(), "nobody_has_this")...))
}
