// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Usage is what one Pod, container or node uses, or all of a cluster.
type Usage struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Container string `json:"container,omitempty"`
	// Cluster is empty where an answer does not tell.
	Cluster string `json:"cluster"`
	// Count is of how many Pods, containers or nodes this is the sum.
	Count       int   `json:"count"`
	CPUMilli    int64 `json:"cpuMillicores"`
	MemoryBytes int64 `json:"memoryBytes"`
}

// Pods returns a row for each Pod or, with containers, for each container.
func Pods(list *metricsv1beta1.PodMetricsList, containers bool) []Usage {
	rows := []Usage{}
	for i := range list.Items {
		pod := &list.Items[i]
		whole := Usage{Namespace: pod.Namespace, Name: pod.Name, Cluster: pod.Labels[fleet.ClusterLabel], Count: 1}
		for _, c := range pod.Containers {
			if containers {
				row := whole
				row.Container = c.Name
				row.add(c.Usage)
				rows = append(rows, row)
				continue
			}
			whole.add(c.Usage)
		}
		if !containers {
			rows = append(rows, whole)
		}
	}
	return rows
}

// Nodes returns a row for each node.
func Nodes(list *metricsv1beta1.NodeMetricsList) []Usage {
	rows := []Usage{}
	for i := range list.Items {
		row := Usage{Name: list.Items[i].Name, Cluster: list.Items[i].Labels[fleet.ClusterLabel], Count: 1}
		row.add(list.Items[i].Usage)
		rows = append(rows, row)
	}
	return rows
}

func (u *Usage) add(used corev1.ResourceList) {
	u.CPUMilli = plus(u.CPUMilli, used.Cpu().MilliValue())
	u.MemoryBytes = plus(u.MemoryBytes, used.Memory().Value())
}

// plus adds what is not negative, and stays at the largest number.
func plus(a, b int64) int64 {
	if b = max(b, 0); a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Sum returns a row for each cluster, in the order of their names.
func Sum(rows []Usage) []Usage {
	byName := map[string]*Usage{}
	for _, row := range rows {
		sum := byName[row.Cluster]
		if sum == nil {
			sum = &Usage{Cluster: row.Cluster}
			byName[row.Cluster] = sum
		}
		sum.merge(row)
	}
	sums := []Usage{}
	for _, sum := range byName {
		sums = append(sums, *sum)
	}
	_ = Sort(sums, "")
	return sums
}

// Whole is the sum of all rows.
func Whole(rows []Usage) Usage {
	var whole Usage
	for _, row := range rows {
		whole.merge(row)
	}
	return whole
}

func (u *Usage) merge(other Usage) {
	u.Count += other.Count
	u.CPUMilli, u.MemoryBytes = plus(u.CPUMilli, other.CPUMilli), plus(u.MemoryBytes, other.MemoryBytes)
}

// Orders are the values of --sort-by beside the empty one, which is by name.
func Orders() []string { return []string{"cpu", "memory"} }

// Sort brings rows in an order, the largest first; it reports whether there is such an order. Equals are in the order of names.
func Sort(rows []Usage, by string) bool {
	if by != "" && !slices.Contains(Orders(), by) {
		return false
	}
	slices.SortFunc(rows, func(a, b Usage) int {
		first := 0
		switch by {
		case "cpu":
			first = cmp.Compare(b.CPUMilli, a.CPUMilli)
		case "memory":
			first = cmp.Compare(b.MemoryBytes, a.MemoryBytes)
		}
		return cmp.Or(first, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cluster, b.Cluster),
			cmp.Compare(a.Container, b.Container))
	})
	return true
}
