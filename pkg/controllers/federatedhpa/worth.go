// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// grownOld is by how many seconds the age of a metric changes to be worth a write.
const grownOld = 60

// worthWriting says whether a status tells more than the one stored. What merely ages does not count: neither the age of
// metrics, within a minute, nor when a recommendation was last repeated.
func worthWriting(stored, fresh *v1alpha1.FederatedHPAStatus) bool {
	return !remembers(stored.Stabilization, fresh.Stabilization) || !equality.Semantic.DeepEqual(ageless(stored), ageless(fresh)) || aged(stored, fresh)
}

// aged compares the ages of metrics of clusters that are the same.
func aged(stored, fresh *v1alpha1.FederatedHPAStatus) bool {
	for i := range fresh.Clusters {
		before, now := stored.Clusters[i].MetricAgeSeconds, fresh.Clusters[i].MetricAgeSeconds
		if (before == nil) != (now == nil) || before != nil && max(*now-*before, *before-*now) >= grownOld {
			return true
		}
	}
	return false
}

// ageless is the status without what merely ages. The rest is shared with it.
func ageless(s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPAStatus {
	shallow := *s
	shallow.Stabilization = nil
	shallow.Clusters = append([]v1alpha1.ClusterStatus(nil), s.Clusters...)
	for i := range shallow.Clusters {
		shallow.Clusters[i].MetricAgeSeconds = nil
	}
	return &shallow
}
