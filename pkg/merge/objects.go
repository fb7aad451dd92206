// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/custom_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Objects is the union of the clusters' items, by namespace, name, cluster,
// kind and metric. Each bears its cluster in its metric selector's MatchLabels,
// under [fleet.ClusterLabel]: items of this API have no labels of their own.
//
// Where one cluster names the same object twice, the larger value stays. A
// reader would keep whichever it reads last, and an autoscaler that is misled
// must not be misled into scaling in.
func Objects(parts map[string][]custom_metrics.MetricValue) []custom_metrics.MetricValue {
	total := 0
	for _, items := range parts {
		total += len(items)
	}
	found := make([]located, 0, total)
	for cluster, items := range parts {
		for i := range items {
			found = append(found, located{cluster, &items[i]})
		}
	}
	slices.SortFunc(found, located.compare)
	found = slices.CompactFunc(found, located.same)
	union, alone := make([]custom_metrics.MetricValue, len(found)), marks{}
	for i, l := range found {
		union[i] = *l.item
		union[i].Value = passed(l.item.Value)
		union[i].Metric.Selector = alone.mark(l.item.Metric.Selector, l.cluster)
	}
	return union
}

// located is an item and the cluster it is from.
type located struct {
	cluster string
	item    *custom_metrics.MetricValue
}

// compare is the order of the union. Of several items of one object the one
// that stays is first, in whatever order the cluster gave them.
func (l located) compare(other located) int {
	if order := l.compareIdentity(other); order != 0 {
		return order
	}
	larger := passed(other.item.Value)
	return cmp.Or(larger.Cmp(passed(l.item.Value)),
		l.item.Timestamp.Compare(other.item.Timestamp.Time), cmp.Compare(l.details(), other.details()))
}

func (l located) compareIdentity(other located) int {
	x, y := &l.item.DescribedObject, &other.item.DescribedObject
	return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(l.cluster, other.cluster),
		cmp.Compare(x.Kind, y.Kind), cmp.Compare(l.item.Metric.Name, other.item.Metric.Name))
}

func (l located) same(other located) bool { return l.compareIdentity(other) == 0 }

// details is all that is left to tell two items apart.
func (l located) details() string {
	value, window := l.item.Value, int64(-1)
	if l.item.WindowSeconds != nil {
		window = *l.item.WindowSeconds
	}
	return fmt.Sprintf("%d %s %v %s", window, value.String(), l.item.DescribedObject, metav1.FormatLabelSelector(l.item.Metric.Selector))
}

// marks are the selectors that say a cluster and nothing else: all items of the
// cluster that have none of their own share one.
type marks map[string]*metav1.LabelSelector

// mark returns the selector with the cluster's mark. The selector itself is left as it is.
func (m marks) mark(selector *metav1.LabelSelector, cluster string) *metav1.LabelSelector {
	if selector == nil {
		if m[cluster] == nil {
			m[cluster] = &metav1.LabelSelector{MatchLabels: map[string]string{fleet.ClusterLabel: cluster}}
		}
		return m[cluster]
	}
	marked := &metav1.LabelSelector{
		MatchLabels:      make(map[string]string, len(selector.MatchLabels)+1),
		MatchExpressions: selector.MatchExpressions,
	}
	maps.Copy(marked.MatchLabels, selector.MatchLabels)
	marked.MatchLabels[fleet.ClusterLabel] = cluster
	return marked
}
