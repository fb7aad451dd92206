// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestThresholds(t *testing.T) {
	tests := map[string]struct {
		shares []Share
		total  int32
		want   string
	}{
		"no cluster":   {nil, 0, "false ThresholdsMet: every cluster gets its autoscalingMinThreshold"},
		"no threshold": {[]Share{{"a", 0, 0}}, 10, "false ThresholdsMet: every cluster gets its autoscalingMinThreshold"},
		"met exactly":  {[]Share{{"a", 3, 3}, {"b", 7, 3}}, 10, "false ThresholdsMet: every cluster gets its autoscalingMinThreshold"},
		"more than can be": {[]Share{{"a", 3, 3}, {"b", 3, 3}, {"c", 3, 3}, {"d", 1, 3}, {"e", 0, 3}}, 10, "true TotalTooSmall:" +
			" autoscalingMinThreshold applies to each cluster that an entry selects, and adds up to 15, while maxReplicas is 10:" +
			" d gets 1 of 3, e gets 0 of 3"},
		"one cluster": {[]Share{{"a", 2, 3}}, 2,
			"true TotalTooSmall: autoscalingMinThreshold applies to each cluster that an entry selects, and adds up to 3, while maxReplicas is 2:" +
				" a gets 2 of 3"},
		"as much as there is": {[]Share{{"a", 4, 3}, {"b", 2, 3}}, 6,
			"true NotAvailable: other clusters hold on to what these lack, or these cannot host it: b gets 2 of 3"},
		"held elsewhere": {[]Share{{"a", 9, 3}, {"b", 1, 3}}, 10,
			"true NotAvailable: other clusters hold on to what these lack, or these cannot host it: b gets 1 of 3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := Thresholds(tc.shares, tc.total, "maxReplicas")
			fleettest.Same(t, "condition", tc.want, fmt.Sprintf("%t %s: %s", c.Is, c.Reason, c.Message))
		})
	}
}
