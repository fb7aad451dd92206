// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// mostBytes is how long an explanation may be, in JSON.
const mostBytes = 8 << 10

// fit leaves out what does not fit: clusters first, for they are in the sums; then metrics, those that ask for least first.
func fit(e *v1alpha1.DecisionExplanation, d *Decided) *v1alpha1.DecisionExplanation {
	if !tooLong(e) { // as a rule
		return e
	}
	for most := mostClusters / 2; tooLong(e) && most >= 1; most /= 2 {
		for i := range e.Metrics {
			e.Metrics[i].Clusters, e.Metrics[i].Others = d.clusters(i, most)
		}
	}
	if tooLong(e) {
		for i := range e.Metrics {
			e.Metrics[i].Clusters, e.Metrics[i].Others = nil, nil
		}
	}
	for tooLong(e) && len(e.Metrics) > 0 {
		least := 0
		for i := range e.Metrics {
			if rank(&e.Metrics[i]) < rank(&e.Metrics[least]) {
				least = i
			}
		}
		e.Metrics = append(e.Metrics[:least], e.Metrics[least+1:]...)
		e.OmittedMetrics++
	}
	return e
}

func tooLong(e *v1alpha1.DecisionExplanation) bool {
	encoded, err := json.Marshal(e)
	return err != nil || len(encoded) > mostBytes
}

// rank orders metrics by how much they matter: by what they ask for, and behind these those that cannot be used, the first before the
// others, for its error is the one that is reported.
func rank(m *v1alpha1.MetricExplanation) int32 {
	if m.Error != "" {
		return -1 - m.Index
	}
	return m.Asks
}
