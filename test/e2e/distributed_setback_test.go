// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Somebody applies other bounds to the autoscaler of one member each time that they are written. That is a state, which names who it is;
// the other members have theirs.
func (s *stage) boundsAreSetBack() {
	s.queue("20")
	s.runIn(2, "member1", "member2")
	s.distribute("minReplicas: 2, maxReplicas: 6", equally, ", clusterAffinity: {clusterNames: [member1, member2]}")
	s.isSplitIn("member1 1-3, member2 1-3")

	s.distribute("minReplicas: 2, maxReplicas: 10", equally, ", clusterAffinity: {clusterNames: [member1, member2]}")
	s.comes("it is set back each time, and says by whom", func(*v1alpha1.FederatedHPA) error { return s.setBack(s.t.Context()) },
		isIn(v1alpha1.StateFailing), says(able+"=False/ScaleUndone", "were set back from 1-5 to 1-3, 3 times in a row", `"gitops"`))
	s.hasEvent("Warning", "ScaleUndone", `"gitops"`)
	s.isSplitIn("member2 1-3")

	s.distribute("minReplicas: 2, maxReplicas: 8", equally, ", clusterAffinity: {clusterNames: [member1, member2]}")
	s.isSplitIn("member1 1-4, member2 1-4")
	s.comes("it is well once the spec changes", isIn(v1alpha1.StateActive), says(able+"=True/ReadyForNewScale"))
}

// setBack is one round of a tool that keeps the bounds of member2 as they are in its repository.
func (s *stage) setBack(ctx context.Context) error {
	const wanted = `{"spec":{"minReplicas":1,"maxReplicas":3}}`
	_, err := s.resource("member2", "autoscaling/v2", "HorizontalPodAutoscaler").Patch(ctx, "web", types.MergePatchType, []byte(wanted),
		metav1.PatchOptions{FieldManager: "gitops"})
	if err != nil {
		return fmt.Errorf("setting the bounds of member2 back: %w", err)
	}
	return nil
}
