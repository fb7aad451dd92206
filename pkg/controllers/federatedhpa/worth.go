// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// grownOld is by how many seconds the age of a metric changes to be worth a write.
const grownOld = 60

// worthWriting says whether a status tells more than the one stored. What merely ages does not count: neither the age of
// metrics, within a minute, nor when a recommendation was last repeated.
func worthWriting(stored, fresh *v1alpha1.FederatedHPAStatus) bool {
	return !remembers(stored.Stabilization, fresh.Stabilization) || !slices.EqualFunc(stored.Clusters, fresh.Clusters, sameButForAge) ||
		!equality.Semantic.DeepEqual(withoutClusters(stored), withoutClusters(fresh)) || aged(stored, fresh)
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

// withoutClusters is the status without them, and without what merely ages. The rest is shared with it.
func withoutClusters(s *v1alpha1.FederatedHPAStatus) *v1alpha1.FederatedHPAStatus {
	shallow := *s
	shallow.Stabilization, shallow.Clusters = nil, nil
	return &shallow
}

// sameButForAge compares all but the age of metrics. It is done for each cluster at each look, where to compare by
// reflection would take a tenth of the whole.
func sameButForAge(a, b v1alpha1.ClusterStatus) bool {
	return a.Name == b.Name && a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && a.HPAVersion == b.HPAVersion &&
		a.Since.Equal(b.Since) && a.UnschedulableSince.Equal(b.UnschedulableSince) && a.SchedulableSince.Equal(b.SchedulableSince) &&
		a.SaturatedFirst.Equal(b.SaturatedFirst) &&
		sameNumbers(&a, &b) && equality.Semantic.DeepEqual(a.HPA, b.HPA)
}

func sameNumbers(a, b *v1alpha1.ClusterStatus) bool {
	return ptr.Equal(a.AssignedReplicas, b.AssignedReplicas) && ptr.Equal(a.AssignedMin, b.AssignedMin) && ptr.Equal(a.AssignedMax, b.AssignedMax) &&
		ptr.Equal(a.CurrentReplicas, b.CurrentReplicas) && ptr.Equal(a.ReadyReplicas, b.ReadyReplicas) &&
		ptr.Equal(a.UnschedulableReplicas, b.UnschedulableReplicas) && ptr.Equal(a.AvailableReplicas, b.AvailableReplicas) &&
		ptr.Equal(a.Weight, b.Weight) && ptr.Equal(a.Priority, b.Priority)
}
