// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// waitsForRoom has the lab play nodes on which a resize waits for room: so Pods are evicted for their size.
const waitsForRoom = "lab.fleetscale.io/resize: Deferred"

// policyDoesNothing: all is installed, and new Pods do not get their size all the same. After two that took the places of evicted
// ones no more are evicted, and that is reported.
func (s *stage) policyDoesNothing() {
	s.bind(sizesNewPods, fmt.Sprintf(`{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[`+
		`{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":[%q]}]}}}}`, s.ns))
	s.runSmall(4, waitsForRoom, sizesNewPods)
	s.running(sizesNewPods, 4)
	pods := s.watchLives("web", sizesNewPods)
	s.size("clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate, minReplicas: 1}")
	s.tellsOwner("Warning", "AdmissionIneffective", sizesNewPods, "new Pods are created without their size")
	rests := []func(*v1alpha1.MultidimPodAutoscaler) error{
		admits(sizesNewPods, v1alpha1.AdmissionIneffective), states("VerticalActuation=False/AdmissionIneffective", sizesNewPods),
		func(m *v1alpha1.MultidimPodAutoscaler) error {
			if n := m.Status.Clusters[0].EvictedLastHour; n == nil || *n != 2 {
				return fmt.Errorf("%v were evicted in the last hour, want 2", n)
			}
			return nil
		},
	}
	s.becomes("it says so", rests...)
	s.lasts(3*verticalPeriod, "nothing more happens", func(ctx context.Context) error {
		_, err := s.isNow(ctx, "web", rests...)
		return err
	})
	all, least := pods.told(s.t)
	for _, of := range all {
		if of.sizedBy != "" {
			s.t.Errorf("%s was sized by %s", of.name, of.sizedBy)
		}
	}
	if ended := pods.ended(s.t); len(all) != 6 || len(ended) != 2 || least < 3 {
		s.t.Errorf("of %d Pods %d have ended, and %d or more were Ready; want 6, 2 and 3", len(all), len(ended), least)
	}
}

// bind patches the binding of the policy with JSON.
func (s *stage) bind(member, patch string) {
	s.t.Helper()
	if _, err := s.clients[member].Resource(bindings).Patch(s.t.Context(), policyName, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

const policyName = "sizes.fleetscale.io"

var bindings = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"}
