// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestEverySampleIsFiledUnderItsPodsCluster(t *testing.T) {
	const (
		label      = `"labels":{"fleetscale.io/cluster":"%s"},`
		annotation = `"annotations":{"resource.karmada.io/query-from-cluster":"%s"},`
	)
	type item struct {
		mark, name string
		cores      int
	}
	pods := map[string][]string{"web-0": {"east", "west"}, "web-e": {"east"}, "web-w": {"west"}}
	of := func(clusters ...string) []string { return clusters }
	tests := map[string]struct {
		clusters []string
		unknown  bool // which Pods there are
		items    []item
		want     map[string]map[string]int64
	}{
		"by its label": {
			of("east", "west"), false,
			[]item{{fmt.Sprintf(label, "east"), "web-0", 1}, {fmt.Sprintf(label, "west"), "web-0", 2}},
			map[string]map[string]int64{"east": {"web-0": 1000}, "west": {"web-0": 2000}},
		},
		"by Karmada's annotation": {
			of("east", "west"), false,
			[]item{{fmt.Sprintf(annotation, "east"), "web-0", 1}, {fmt.Sprintf(annotation, "west"), "web-0", 2}},
			map[string]map[string]int64{"east": {"web-0": 1000}, "west": {"web-0": 2000}},
		},
		"by its label rather than the annotation": {
			of("east", "west"), false,
			[]item{{fmt.Sprintf(label, "east") + fmt.Sprintf(annotation, "west"), "web-0", 1}},
			map[string]map[string]int64{"east": {"web-0": 1000}},
		},
		"also where the workload is not placed": {
			of("east"), false,
			[]item{{fmt.Sprintf(label, "north"), "web-0", 1}},
			map[string]map[string]int64{"north": {"web-0": 1000}},
		},
		"by its name, where one cluster has a Pod of that": {
			of("east", "west"), false,
			[]item{{"", "web-e", 1}, {"", "web-w", 2}},
			map[string]map[string]int64{"east": {"web-e": 1000}, "west": {"web-w": 2000}},
		},
		"not by a name that several have, nor by one that none has": {
			of("east", "west"), false,
			[]item{{"", "web-0", 1}, {"", "web-9", 2}},
			map[string]map[string]int64{},
		},
		"not by a name that is there more than once": {
			of("east", "west"), false,
			[]item{{"", "web-e", 1}, {"", "web-w", 2}, {"", "web-e", 3}, {"", "web-e", 4}},
			map[string]map[string]int64{"west": {"web-w": 2000}, "east": {}},
		},
		"not by a name while no Pods are known": {
			of("east", "west"), true,
			[]item{{"", "web-e", 1}},
			map[string]map[string]int64{},
		},
		"all under the only cluster, of Pods that nobody knows too": {
			of("east"), true,
			[]item{{"", "web-0", 1}, {"", "web-9", 2}},
			map[string]map[string]int64{"east": {"web-0": 1000, "web-9": 2000}},
		},
		"the last of equal names in the only cluster, as in Kubernetes": {
			of("east"), false,
			[]item{{"", "web-0", 1}, {"", "web-0", 2}},
			map[string]map[string]int64{"east": {"web-0": 2000}},
		},
		"under none where there is none": {
			nil, false,
			[]item{{"", "web-0", 1}},
			map[string]map[string]int64{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var items []string
			for _, i := range tc.items {
				items = append(items, fmt.Sprintf(`{"metadata":{%s"name":"%s"},"containers":[{"name":"app","usage":{"cpu":"%d"}}]}`, i.mark, i.name,
					i.cores))
			}
			hub := newHub(map[string]said{podMetricsPath: asJSON(
				`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[` + strings.Join(items, ",") + `]}`)})
			q := question(cpu(), tc.clusters...)
			if !tc.unknown {
				q.ClustersOf = func(pod string) []string { return pods[pod] }
			}
			got := hub.client(t).Ask(t.Context(), q)
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			values := map[string]map[string]int64{}
			for cluster, samples := range got.Pods {
				values[cluster] = map[string]int64{}
				for pod, sample := range samples {
					values[cluster][pod] = sample.Value
				}
			}
			fleettest.Same(t, "", tc.want, values)
		})
	}
}
