// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// twoInOneNamespace: two MultidimPodAutoscalers of a namespace have an entry each in one PodSizes. The one goes with its entry, and the
// other one's stays.
func (s *stage) twoInOneNamespace() {
	names := []string{"api", "web"}
	s.uses(map[string]string{sizesNewPods: muchCPU})
	first := map[string]map[types.UID]*corev1.Pod{}
	for _, name := range names {
		s.apply(sizesNewPods, sized(name, 2, "", smallResources))
	}
	for _, name := range names {
		first[name] = s.runningOf(name, sizesNewPods, 2)
		s.sizeOf(name, "clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlace}")
	}
	for _, name := range names {
		s.growOf(name, sizesNewPods, slices.Collect(maps.Keys(first[name]))...)
		s.becomesOf(name, name+" has its size", isSized(v1alpha1.MultidimActive, "2/2"), admits(sizesNewPods, v1alpha1.AdmissionInstalled))
	}
	s.hasEntries(names...)
	for _, name := range names {
		s.scaleByOf(name, sizesNewPods, 3)
		s.bornSizedOf(name, sizesNewPods, first[name], 1)
	}

	s.unsize("web")
	s.hasEntries("api")
	left := map[string]map[types.UID]*corev1.Pod{}
	for _, name := range names {
		left[name] = s.runningOf(name, sizesNewPods, 3)
		s.scaleByOf(name, sizesNewPods, 4)
	}
	s.bornSizedOf("api", sizesNewPods, left["api"], 1)
	for uid, pod := range s.runningOf("web", sizesNewPods, 4) {
		cpu, old := pod.Spec.Containers[0].Resources.Requests.Cpu().String(), left["web"][uid] != nil
		if by := pod.Annotations[sizedBy]; !old && (by != "" || cpu != smallCPU) || old && cpu == smallCPU {
			s.t.Errorf("%s requests %s, sized by %q: want that of the template of a new Pod, and its size of an old one", pod.Name, cpu, by)
		}
	}
	s.becomesOf("api", "the other one continues", isSized(v1alpha1.MultidimActive, "4/4"), states("VerticalActuation=True/Actuating"),
		hasEvicted(nil))
}

// hasEntries wants the member to have sizes of these workloads.
func (s *stage) hasEntries(want ...string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s: there are sizes of %v", s.ns, want), func(ctx context.Context) error {
		there, err := s.entries(ctx, sizesNewPods)
		if err == nil && !slices.Equal(there, want) {
			err = fmt.Errorf("there are those of %v", there)
		}
		return err
	})
}
