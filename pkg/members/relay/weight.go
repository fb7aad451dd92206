// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"slices"

	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/merge"
)

// What things take in memory, about; rather too much than too little. What
// several questions share is counted for each: then it does not matter which of
// them is forgotten first.
const (
	questionBytes = 2048 // without its words and what was answered: structs, a channel, entries in maps, an error
	customBytes   = 288
	externalBytes = 160
	mapBytes      = 48 // and at least a group of its entries
	entryBytes    = 40
	entriesAtOnce = 8
)

func (k key) bytes() int64 {
	s := k.subject
	return int64(len(s.namespace) + len(s.resource) + len(s.name) + len(k.metric) + len(k.selector) + len(k.metricSelector))
}

func seenSize(seen merge.Seen) (bytes int64) {
	for _, series := range seen {
		bytes += 8 + int64(len(series.Value()))
	}
	return bytes
}

func customSize(v *custom_metrics.MetricValue) int64 {
	o := &v.DescribedObject
	bytes := customBytes + len(o.Kind) + len(o.Namespace) + len(o.Name) + len(o.UID) + len(o.APIVersion) + len(o.ResourceVersion) +
		len(o.FieldPath) + len(v.Metric.Name)
	if s := v.Metric.Selector; s != nil {
		bytes += labelsSize(s.MatchLabels)
		for _, e := range s.MatchExpressions {
			bytes += 2*entryBytes + len(e.Key) + len(e.Operator)
			for _, value := range e.Values {
				bytes += entryBytes + len(value)
			}
		}
	}
	return int64(bytes)
}

func externalSize(v *external_metrics.ExternalMetricValue) int64 {
	return int64(externalBytes + len(v.MetricName) + labelsSize(v.MetricLabels))
}

// sameValues compares all but names and labels.
func sameValues(a, b []external_metrics.ExternalMetricValue) bool {
	return slices.EqualFunc(a, b, func(a, b external_metrics.ExternalMetricValue) bool {
		return a.Timestamp.Equal(&b.Timestamp) && ptr.Equal(a.WindowSeconds, b.WindowSeconds) && a.Value.Format == b.Value.Format &&
			a.Value.Cmp(b.Value) == 0
	})
}

func labelsSize(set map[string]string) int {
	if set == nil {
		return 0
	}
	bytes := mapBytes + max(entriesAtOnce, 2*len(set))*entryBytes
	for key, value := range set {
		bytes += len(key) + len(value)
	}
	return bytes
}
