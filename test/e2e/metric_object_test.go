// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

// What two clusters say of one service is one figure: their sum, or what the
// asker has chosen. A cluster that does not know it has no part in it.
func TestServiceInTwoClusters(t *testing.T) {
	e := whole(t)
	const metric = "service_rps"
	e.tell(t, "services", "web", metric, figure{"member1": "300m", "member2": "1700m"})
	for selector, want := range map[string]string{
		"":                                         "web 2",
		"fleetscale.io/merge=sum":                  "web 2",
		"fleetscale.io/merge=avg":                  "web 1",
		"fleetscale.io/merge=max":                  "web 1700m",
		"fleetscale.io/merge=min":                  "web 300m",
		"fleetscale.io/merge in (max)":             "web 1700m",
		"fleetscale.io/cluster in (member1,west)":  "web 300m",
		"fleetscale.io/cluster!=member1":           "web 1700m",
		"fleetscale.io/merge=max,verb=get":         "",
		"fleetscale.io/partial=allow,!nothing":     "web 2",
		"fleetscale.io/merge=avg,verb notin (get)": "web 1",
	} {
		if want == "" {
			e.wants(t, serviceMetric(metric, selector), refuses(http.StatusNotFound, metric, "web"))
			continue
		}
		e.wants(t, serviceMetric(metric, selector), whollyTells(want))
	}
	e.wants(t, customV1beta1+"/namespaces/"+shop+"/services/web/"+metric, whollyTells("web 2"))
	e.wants(t, serviceMetric(metric, "fleetscale.io/cluster=member3"), refuses(http.StatusNotFound, metric, "member3"))
}

// What cannot be understood is refused, with what could be.
func TestUnknownMergeIsRefused(t *testing.T) {
	e := whole(t)
	for selector, words := range map[string][]string{
		"fleetscale.io/merge=median":       {"fleetscale.io/merge", "median", "sum", "avg", "max", "min"},
		"fleetscale.io/merge!=sum":         {"fleetscale.io/merge", "sum"},
		"fleetscale.io/merge in (sum,max)": {"fleetscale.io/merge", "sum"},
		"fleetscale.io/partial=please":     {"fleetscale.io/partial", "please", "allow"},
	} {
		for _, path := range []string{serviceMetric(presence, selector), externalMetric(presence, selector),
			podsMetric(presence, "metricLabelSelector", selector)} {
			e.wants(t, path, refuses(http.StatusBadRequest, words...))
		}
	}
}

// Nobody has it: that is said, with what was asked for and who was asked.
func TestMetricThatNobodyHas(t *testing.T) {
	e := whole(t)
	members := allMembers()
	e.wants(t, serviceMetric("nobody_has_this"), refuses(http.StatusNotFound, append(members, "nobody_has_this", "services", "web")...))
	e.wants(t, serviceMetric("nobody_has_this", "fleetscale.io/cluster=member2"), refuses(http.StatusNotFound, "nobody_has_this", "member2"))
	e.wants(t, serviceMetric("nobody_has_this", "fleetscale.io/cluster=elsewhere"),
		refuses(http.StatusNotFound, "fleetscale.io/cluster", "member1"))
}

// One cluster has it: its figure is the fleet's.
func TestMetricOfOneMember(t *testing.T) {
	e := whole(t)
	const metric = "only_in_member2"
	e.tell(t, "services", "web", metric, figure{"member2": "7"})
	e.tell(t, "pods", "web-0", metric, figure{"member2": "3500m"})
	e.tellSeries(t, "member2", metric, map[string]string{"name=mail": "9"})
	e.wants(t, serviceMetric(metric), whollyTells("web 7"))
	e.wants(t, serviceMetric(metric, "fleetscale.io/merge=avg"), whollyTells("web 7"))
	e.wants(t, podsMetric(metric), whollyTells("member2/web-0 3500m"))
	e.wants(t, externalMetric(metric), whollyTells("name=mail 9"))
}

// Objects of other groups, objects in no namespace, and namespaces themselves.
func TestObjectsOfAllScopes(t *testing.T) {
	e := whole(t)
	const metric = "of_all_scopes"
	for member, value := range map[string]string{"member1": "1", "member3": "4"} {
		for _, f := range []lab.Figure{
			{Namespace: shop, Resource: "statefulsets.apps", Object: "web"},
			{Resource: "namespaces", Object: shop},
			{Resource: "nodes", Object: "shared"},
			{Resource: "nodes", Object: member + "-node1"},
		} {
			f.Metric, f.Value = metric, resource.MustParse(value)
			e.tellFigure(t, member, f)
		}
	}
	for path, want := range map[string][]string{
		"/namespaces/" + shop + "/statefulsets.apps/web/" + metric:              {"web 5"},
		"/namespaces/" + shop + "/statefulsets.apps/*/" + metric:                {"member1/web 1", "member3/web 4"},
		"/namespaces/" + shop + "/metrics/" + metric:                            {shop + " 5"},
		"/nodes/shared/" + metric:                                               {"shared 5"},
		"/nodes/*/" + metric:                                                    {"member1/member1-node1 1", "member3/member3-node1 4"},
		"/nodes/*/" + metric + "?labelSelector=fleetscale.io/cluster%3Dmember3": {"member3/member3-node1 4"},
	} {
		for _, version := range []string{customV1beta1, customV1beta2} {
			e.wants(t, version+path, whollyTells(want...))
		}
	}
}
