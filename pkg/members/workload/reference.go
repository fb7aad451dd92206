// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Describe names a workload as in `Deployment "web"`.
func Describe(ref autoscalingv2.CrossVersionObjectReference) string {
	return fmt.Sprintf("%s %q", ref.Kind, ref.Name)
}
