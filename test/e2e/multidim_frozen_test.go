// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// nothingShrinksUnseen: while a member cannot be seen, nothing becomes smaller anywhere: no Pod, whoever recommends that, and no
// recommendation of ours. What should be more becomes more, where it is seen. Afterwards what was held is caught up, in place.
func (s *stage) nothingShrinksUnseen() {
	both := []string{"member1", "member2"}
	s.uses(map[string]string{"member1": muchCPU, "member2": muchCPU})
	for _, member := range both {
		s.apply(member, sized("web", 2, "", "{requests: {cpu: 500m, memory: 250Mi}}"))
		s.apply(member, sized("own", 2, "", smallResources))
	}
	web, own := map[string]map[types.UID]*corev1.Pod{}, map[string]map[types.UID]*corev1.Pod{}
	for _, member := range both {
		web[member], own[member] = s.runningOf("web", member, 2), s.runningOf("own", member, 2)
	}
	const where = "clusterAffinity: {clusterNames: [member1, member2]}, policy: {updateMode: InPlace}, "
	s.size(where + "recommenders: [{name: " + sizer + "}]")
	s.recommend("web", "{cpu: 500m, memory: 250Mi}")
	s.sizeOf("own", where+"constraints: {container: [{name: '*', targetPercentile: {cpu: 50}}]}")
	s.becomes("all are as recommended", isSized(v1alpha1.MultidimActive, "4/4"))
	for _, member := range both {
		s.growOf("own", member, slices.Collect(maps.Keys(own[member]))...)
	}
	s.becomesOf("own", "its own have grown", isSized(v1alpha1.MultidimActive, "4/4"), recommendsCPU(muchCPU, "6"))
	ofWeb, ofOwn := s.watchLives("web", "member1"), s.watchLives("own", "member1")

	s.freeze(s.t, "member2")
	s.uses(map[string]string{"member1": "10m"})
	s.recommend("web", "{cpu: 250m, memory: 300Mi}")
	s.becomes("the member is silent", clusterIs("member2", v1alpha1.ClusterUnreachable), states("VerticalActuation=False/Timeout", "member2"))
	s.becomesOf("own", "it holds", isSized(v1alpha1.MultidimHeld, "4/4"), states("RecommendationProvided=True/Held", "member2"),
		recommendsCPU(muchCPU, "6"))
	s.haveNow("member1", web["member1"], "500m", "300Mi")
	s.lasts(restless, "nothing shrinks while a member is silent", func(ctx context.Context) error {
		_, held := s.isNow(ctx, "own", isSized(v1alpha1.MultidimHeld, "4/4"), recommendsCPU(muchCPU, "6"))
		pods, err := s.podsIn(ctx, "member1")
		return errors.Join(held, err, have(pods, web["member1"], "500m", "300Mi"))
	})
	ofWeb.keep(s.t, "while a member was silent")
	ofOwn.keep(s.t, "while a member was silent")

	s.thaw(s.t, "member2")
	s.uses(map[string]string{"member2": "10m"})
	s.becomesOf("own", "it falls", states("RecommendationProvided=True/Recommended"), recommendsCPU("25m", "100m"))
	for _, member := range both {
		s.haveNow(member, web[member], "250m", "300Mi")
	}
	s.becomes("all are as recommended again", isSized(v1alpha1.MultidimActive, "4/4"), states("VerticalActuation=True/Actuating"),
		hasEvicted(nil))
	s.recovers(s.t)
}

// haveNow waits until these very Pods of web have so much.
func (s *stage) haveNow(member string, wanted map[types.UID]*corev1.Pod, cpu, memory string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s: Pods of %s have %s and %s", s.ns, member, cpu, memory), func(ctx context.Context) error {
		pods, err := s.podsIn(ctx, member)
		return errors.Join(err, have(pods, wanted, cpu, memory))
	})
}

// have returns which of the wanted Pods are gone, or have not so much.
func have(pods, wanted map[types.UID]*corev1.Pod, cpu, memory string) error {
	var errs []error
	for uid, was := range wanted {
		pod := pods[uid]
		if pod == nil || len(pod.Status.ContainerStatuses) != 1 || pod.Status.ContainerStatuses[0].Resources == nil {
			errs = append(errs, fmt.Errorf("%s is gone, or says nothing of what it has", was.Name))
			continue
		}
		has := pod.Status.ContainerStatuses[0].Resources.Requests
		if got := has.Cpu().String() + " " + has.Memory().String(); got != cpu+" "+memory {
			errs = append(errs, fmt.Errorf("%s has %s, want %s %s", pod.Name, got, cpu, memory))
		}
	}
	return errors.Join(errs...)
}
