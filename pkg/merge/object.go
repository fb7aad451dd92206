// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/metrics/pkg/apis/custom_metrics"
)

// Object makes one figure of what the clusters say of one object; false when
// none of them has it. The empty word is [Sum].
//
// The object is the fleet's and no one cluster's, so it has neither UID nor
// ResourceVersion; for the rest it is described as the first cluster by name
// describes it. The metric's selector stays where all agree on it.
func Object(word Word, clusters map[string][]custom_metrics.MetricValue) (custom_metrics.MetricValue, bool) {
	var first *custom_metrics.MetricValue
	p := parts{word: cmp.Or(word, Sum)}
	agreed := true
	for _, cluster := range slices.Sorted(maps.Keys(clusters)) {
		for i := range clusters[cluster] {
			item := &clusters[cluster][i]
			if first == nil {
				first = item
			}
			agreed = agreed && equality.Semantic.DeepEqual(item.Metric.Selector, first.Metric.Selector)
			p.add(cluster, figure{item.Value, item.Timestamp, item.WindowSeconds})
		}
	}
	if first == nil {
		return custom_metrics.MetricValue{}, false
	}
	whole, f := *first, p.merged()
	whole.Value, whole.Timestamp, whole.WindowSeconds = f.value, f.at, f.window
	whole.DescribedObject.UID, whole.DescribedObject.ResourceVersion = "", ""
	if !agreed {
		whole.Metric.Selector = nil
	}
	return whole, true
}
