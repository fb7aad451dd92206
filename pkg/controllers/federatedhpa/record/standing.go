// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Standing returns that a cluster has become cordoned or drained, or is no longer that, as its statuses tell; empty: neither.
func Standing(before, now *v1alpha1.ClusterStatus) string {
	was, is := restricted(before.Reason), restricted(now.Reason)
	switch {
	case is && before.Reason != now.Reason:
		return fmt.Sprintf("cluster %s is %s: %s", now.Name, now.Reason, now.Message)
	case was && now.Reason == "":
		return fmt.Sprintf("cluster %s is no longer %s", now.Name, before.Reason)
	default:
		return ""
	}
}

func restricted(reason string) bool {
	return reason == taints.Cordoned.String() || reason == taints.Drained.String()
}
