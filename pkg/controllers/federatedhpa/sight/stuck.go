// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// ReadStuck reads whether Pods that wait for a node would be those that go when replicas are taken away. A ReplicaSet deletes them
// first. A StatefulSet deletes its last Pod: that is the one that waits if Pods are created one after the other, and may be any other
// if they are created at once. A StatefulSet is read only while Pods wait.
func (c *Cluster) ReadStuck(ctx context.Context, object *v1alpha1.FederatedHPA) {
	ref := object.Spec.ScaleTargetRef
	if ref.Kind != "StatefulSet" || c.Pods.Unschedulable == 0 {
		return
	}
	found, err := c.Member.Get(ctx, object.Namespace, ref)
	if err != nil {
		c.Stuck = fmt.Sprintf("spec.podManagementPolicy of %s cannot be read: %v", workload.Describe(ref), err)
		return
	}
	if policy, _, _ := unstructured.NestedString(found.Object, "spec", "podManagementPolicy"); policy == "Parallel" {
		c.Stuck = fmt.Sprintf("spec.podManagementPolicy of %s is Parallel, so it could lose a Pod that runs", workload.Describe(ref))
	}
}
