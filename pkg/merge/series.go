// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/metrics/pkg/apis/external_metrics"
)

// Series makes one of what clusters say of one external metric, by name and
// labels. Identical ones are the same thing seen from several clusters, a queue
// for one, so the default word is Max: nothing is counted twice.
func Series(word Word, parts map[string][]external_metrics.ExternalMetricValue) []external_metrics.ExternalMetricValue {
	figures, first := map[string][]figure{}, map[string]external_metrics.ExternalMetricValue{}
	for _, cluster := range slices.Sorted(maps.Keys(parts)) {
		for _, s := range parts[cluster] {
			id := identity(s)
			if _, seen := first[id]; !seen {
				first[id] = s
			}
			figures[id] = append(figures[id], figure{s.Value, s.Timestamp, s.WindowSeconds})
		}
	}
	merged := make([]external_metrics.ExternalMetricValue, 0, len(first))
	for _, id := range slices.Sorted(maps.Keys(first)) {
		s, whole := first[id], combine(cmp.Or(word, Max), figures[id])
		s.Value, s.Timestamp, s.WindowSeconds = whole.value, whole.at, whole.window
		merged = append(merged, s)
	}
	return merged
}

// Covers is true when every series that was there before is among the parts,
// whatever its value is now.
func Covers(parts map[string][]external_metrics.ExternalMetricValue, before []external_metrics.ExternalMetricValue) bool {
	present := map[string]bool{}
	for _, series := range parts {
		for _, s := range series {
			present[identity(s)] = true
		}
	}
	return !slices.ContainsFunc(before, func(s external_metrics.ExternalMetricValue) bool { return !present[identity(s)] })
}

// identity is one text per name and set of labels. Quotes keep any two apart.
func identity(s external_metrics.ExternalMetricValue) string {
	var b strings.Builder
	b.WriteString(strconv.Quote(s.MetricName))
	for _, key := range slices.Sorted(maps.Keys(s.MetricLabels)) {
		b.WriteString(strconv.Quote(key))
		b.WriteString(strconv.Quote(s.MetricLabels[key]))
	}
	return b.String()
}
