// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Share is what a cluster gets, and its autoscalingMinThreshold.
type Share struct {
	Cluster     string
	Gets, Floor int32
}

// Thresholds is whether a cluster gets less than its threshold. The shares are of a total that has a name.
func Thresholds(shares []Share, total int32, name string) Condition {
	sum, each := int64(0), []string(nil)
	for _, s := range shares {
		sum += int64(s.Floor)
		if s.Gets < s.Floor {
			each = append(each, fmt.Sprintf("%s gets %d of %d", s.Cluster, s.Gets, s.Floor))
		}
	}
	c := Condition{Type: v1alpha1.MinThresholdNotMet, Is: len(each) > 0, Reason: "NotAvailable",
		Message: "other clusters hold on to what these lack, or these cannot host it"}
	if sum > int64(total) {
		c.Reason = "TotalTooSmall"
		c.Message = fmt.Sprintf("autoscalingMinThreshold applies to each cluster that an entry selects, and adds up to %d, while %s is %d",
			sum, name, total)
	}
	c.Message += ": " + strings.Join(each, ", ")
	return c.Else("ThresholdsMet", "every cluster gets its autoscalingMinThreshold")
}
