// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func used(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func meta(name, cluster string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"fleetscale.io/cluster": cluster}}
}

func pods() *metricsv1beta1.PodMetricsList {
	return &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{
		{ObjectMeta: meta("web-0", "west"), Containers: []metricsv1beta1.ContainerMetrics{
			{Name: "web", Usage: used("120m", "96Mi")}, {Name: "proxy", Usage: used("0.5m", "1500Ki")}}},
		{ObjectMeta: meta("web-0", "east"), Containers: []metricsv1beta1.ContainerMetrics{{Name: "web", Usage: used("250m", "102Mi")}}},
		{ObjectMeta: meta("api", "east"), Containers: []metricsv1beta1.ContainerMetrics{{Name: "api", Usage: used("1", "10Mi")}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "lost"}},
	}}
}

func cells(t *testing.T, rows []Usage, has Columns) (all [][]any) {
	t.Helper()
	for _, row := range Table(rows, has).Rows {
		all = append(all, row.Cells)
	}
	return all
}

func TestTables(t *testing.T) {
	rows := Pods(pods(), false)
	Sort(rows, "cpu")
	fleettest.Same(t, "by cpu", [][]any{
		{"shop", "api", "east", "1000m", "10Mi"}, {"shop", "web-0", "east", "250m", "102Mi"}, {"shop", "web-0", "west", "121m", "97Mi"},
		{"shop", "lost", "-", "0m", "0Mi"},
	}, cells(t, rows, Columns{Namespaces: true}))
	Sort(rows, "memory")
	fleettest.Same(t, "by memory", [][]any{
		{"web-0", "east", "250m", "102Mi"}, {"web-0", "west", "121m", "97Mi"}, {"api", "east", "1000m", "10Mi"}, {"lost", "-", "0m", "0Mi"},
	}, cells(t, rows, Columns{}))
	fleettest.Same(t, "sums", [][]any{
		{"-", 1, "0m", "0Mi"}, {"east", 2, "1250m", "112Mi"}, {"west", 1, "121m", "97Mi"}, {"(all)", 4, "1371m", "209Mi"},
	}, cells(t, Sum(rows), Columns{Of: "Pods", Summed: true}))
	parts := Pods(pods(), true)
	Sort(parts, "")
	fleettest.Same(t, "containers", [][]any{
		{"api", "api", "east", "1000m", "10Mi"}, {"web-0", "web", "east", "250m", "102Mi"}, {"web-0", "proxy", "west", "1m", "1Mi"},
		{"web-0", "web", "west", "120m", "96Mi"},
	}, cells(t, parts, Columns{Containers: true}))
	nodes := Nodes(&metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{
		{ObjectMeta: meta("node-1", "east"), Usage: used("2", "4Gi")}}})
	fleettest.Same(t, "nodes", [][]any{{"node-1", "east", "2000m", "4096Mi"}}, cells(t, nodes, Columns{}))
	if Sort(rows, "name") {
		t.Error("there is an order that is none")
	}
}

// Sums of clusters are the sum of all rows, in any order of the rows.
func TestSums(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rows := make([]Usage, random.IntN(20))
		for i := range rows {
			cluster := string(rune('a' + random.IntN(4)))
			rows[i] = Usage{Cluster: cluster, Count: 1, CPUMilli: random.Int64N(1000), MemoryBytes: random.Int64N(1 << 40)}
		}
		whole, sums := Whole(rows), Sum(rows)
		fleettest.Same(t, "the sum of sums", whole, Whole(sums))
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		fleettest.Same(t, "sums of another order", sums, Sum(rows))
	}
	if got := plus(math.MaxInt64-1, 7); got != math.MaxInt64 {
		t.Errorf("sums overflow to %d", got)
	}
	if got := plus(5, -7); got != 5 {
		t.Errorf("a negative usage leaves %d", got)
	}
}
