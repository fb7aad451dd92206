// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
)

// tellWeb has two members tell of their pods web-0 and web-1, which are of the
// same names in both.
func (e *env) tellWeb(t *testing.T, metric string) {
	t.Helper()
	e.tell(t, "pods", "web-0", metric, figure{"member1": "11", "member2": "21"})
	e.tell(t, "pods", "web-1", metric, figure{"member1": "12", "member2": "22"})
}

// A pod name that several clusters have is several items, each with its
// cluster: in both versions, for all and for some.
func TestPodsOfOneNameAreToldApart(t *testing.T) {
	e := whole(t)
	const metric = "pods_rps"
	e.tellWeb(t, metric)
	all := []string{"member1/web-0 11", "member2/web-0 21", "member1/web-1 12", "member2/web-1 22"}
	for _, version := range []string{customV1beta1, customV1beta2} {
		e.wants(t, version+"/namespaces/"+shop+"/pods/*/"+metric, whollyTells(all...))
	}
	e.wants(t, podsMetric(metric, "labelSelector", "app=web"), whollyTells(all...))
	e.wants(t, podsMetric(metric, "labelSelector", "app=cart"), whollyTells())
}

// The cluster is chosen in the metric's selector, or as if it were a label of
// the pods. Either way it is not what members are asked for.
func TestPodsOfChosenClusters(t *testing.T) {
	e := whole(t)
	const metric = "pods_chosen_rps"
	e.tellWeb(t, metric)
	first, second := []string{"member1/web-0 11", "member1/web-1 12"}, []string{"member2/web-0 21", "member2/web-1 22"}
	both := []string{"member1/web-0 11", "member2/web-0 21", "member1/web-1 12", "member2/web-1 22"}
	for _, parameter := range []string{"labelSelector", "metricLabelSelector"} {
		for selector, want := range map[string][]string{
			"fleetscale.io/cluster=member1":                 first,
			"fleetscale.io/cluster in (member1, member2)":   both,
			"fleetscale.io/cluster in (member2, elsewhere)": second,
			"fleetscale.io/cluster!=member1":                second,
			"fleetscale.io/cluster notin (member2,member3)": first,
		} {
			e.wants(t, podsMetric(metric, parameter, selector), whollyTells(want...))
		}
	}
	e.wants(t, podsMetric(metric, "labelSelector", "app=web,fleetscale.io/cluster=member1"), whollyTells(first...))
	e.wants(t, podsMetric(metric, "labelSelector", "fleetscale.io/cluster!=member2", "metricLabelSelector", "fleetscale.io/cluster!=member3"),
		whollyTells(first...))
	for _, member := range allMembers() {
		for _, uri := range e.asked(t, member, metric) {
			if containsAll(uri, []string{"fleetscale.io"}) {
				t.Errorf("%s was asked %s", member, uri)
			}
		}
	}
	if asked := e.asked(t, "member3", metric); len(asked) == 0 {
		t.Error("nothing shows that questions are seen: member3 was never asked")
	}
}

// Metric selectors are the members' to judge, set-based ones too.
func TestMetricSelectors(t *testing.T) {
	e := whole(t)
	const metric = "pods_by_verb"
	e.tellVerb(t, "member1", metric, "get", "1")
	e.tellVerb(t, "member2", metric, "post", "2")
	for selector, want := range map[string][]string{
		"":                     {"member1/web-0 1", "member2/web-0 2"},
		"verb=get":             {"member1/web-0 1"},
		"verb in (get,head)":   {"member1/web-0 1"},
		"verb notin (get,put)": {"member2/web-0 2"},
		"verb":                 {"member1/web-0 1", "member2/web-0 2"},
		"verb in (get,post),fleetscale.io/cluster in (member2,member3)": {"member2/web-0 2"},
	} {
		e.wants(t, podsMetric(metric, "metricLabelSelector", selector), whollyTells(want...))
	}
}

func (e *env) tellVerb(t *testing.T, member, metric, verb, value string) {
	t.Helper()
	f := figureOf("pods", "web-0", metric, value)
	f.Labels = map[string]string{"verb": verb}
	e.tellFigure(t, member, f)
}
