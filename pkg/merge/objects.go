// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/custom_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Objects is the union of what clusters list, by namespace, name and cluster.
// Each item bears its cluster in its metric's selector, since it has no labels.
// Where one cluster lists an object twice, the larger figure stays: an
// autoscaler that is misled must not be misled into scaling in.
func Objects(parts map[string][]custom_metrics.MetricValue) []custom_metrics.MetricValue {
	total := 0
	for _, items := range parts {
		total += len(items)
	}
	union := make([]listed, 0, total)
	for _, cluster := range slices.Sorted(maps.Keys(parts)) {
		for _, item := range parts[cluster] {
			union = append(union, listed{cluster, item})
		}
	}
	slices.SortFunc(union, func(a, b listed) int {
		return cmp.Or(a.compare(b), b.item.Value.Cmp(a.item.Value))
	})
	union = slices.CompactFunc(union, func(a, b listed) bool { return a.compare(b) == 0 })
	items := make([]custom_metrics.MetricValue, len(union))
	for i, l := range union {
		items[i] = l.marked()
	}
	return items
}

// listed is an item and where it is from.
type listed struct {
	cluster string
	item    custom_metrics.MetricValue
}

func (a listed) compare(b listed) int {
	x, y := a.item.DescribedObject, b.item.DescribedObject
	return cmp.Or(
		cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(a.cluster, b.cluster),
		cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.APIVersion, y.APIVersion),
		cmp.Compare(a.item.Metric.Name, b.item.Metric.Name),
		cmp.Compare(metav1.FormatLabelSelector(a.item.Metric.Selector), metav1.FormatLabelSelector(b.item.Metric.Selector)))
}

// marked is the item with its cluster; what it came from is left as it is.
func (l listed) marked() custom_metrics.MetricValue {
	item := l.item
	selector := &metav1.LabelSelector{}
	if item.Metric.Selector != nil {
		selector.MatchExpressions = item.Metric.Selector.MatchExpressions
		selector.MatchLabels = maps.Clone(item.Metric.Selector.MatchLabels)
	}
	if selector.MatchLabels == nil {
		selector.MatchLabels = map[string]string{}
	}
	selector.MatchLabels[fleet.ClusterLabel] = l.cluster
	item.Metric.Selector = selector
	item.Value = readable(item.Value)
	return item
}

// Object makes one of what each cluster says of one object; it is false when
// none has it. The default word is Sum.
func Object(word Word, parts map[string][]custom_metrics.MetricValue) (custom_metrics.MetricValue, bool) {
	var items []custom_metrics.MetricValue
	for _, cluster := range slices.Sorted(maps.Keys(parts)) {
		items = append(items, parts[cluster]...)
	}
	if len(items) == 0 {
		return custom_metrics.MetricValue{}, false
	}
	figures := make([]figure, len(items))
	for i, item := range items {
		figures[i] = figure{item.Value, item.Timestamp, item.WindowSeconds}
	}
	whole := combine(cmp.Or(word, Sum), figures)
	one := items[0]
	one.Value, one.Timestamp, one.WindowSeconds = whole.value, whole.at, whole.window
	if len(items) > 1 {
		one.DescribedObject.UID, one.DescribedObject.ResourceVersion = "", ""
	}
	for _, item := range items[1:] {
		if !equality.Semantic.DeepEqual(item.Metric.Selector, one.Metric.Selector) {
			one.Metric.Selector = nil
			break
		}
	}
	return one, true
}
