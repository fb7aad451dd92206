// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Describe names a workload as in `Deployment "web"`.
func Describe(ref autoscalingv2.CrossVersionObjectReference) string {
	return fmt.Sprintf("%s %q", ref.Kind, ref.Name)
}

// Key is the same for references to the same workload of a namespace, be it by another version.
func Key(ref autoscalingv2.CrossVersionObjectReference) string {
	gv, _ := schema.ParseGroupVersion(ref.APIVersion)
	return gv.Group + "/" + ref.Kind + "/" + ref.Name
}
