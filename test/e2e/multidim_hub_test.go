// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Resources of a container before and after somebody lowers its limits, below what it was recommended.
const (
	wideLimits   = "{requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: 8, memory: 1Gi}}"
	narrowLimits = "{requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: 2, memory: 200Mi}}"
)

// hubIsAway: the hub's API server is stopped. A member's own autoscaler adds Pods, and in another member a new template has lower
// limits, and somebody adds a Pod. All are admitted, with their size as far as their limits allow it. Once the hub is back,
// nothing is undone, and nothing that was written is written again.
func (s *stage) hubIsAway() {
	s.uses(map[string]string{"member1": muchCPU, "member2": muchCPU})
	s.apply("member1", sized("web", 2, "", smallResources))
	s.apply("member2", sized("api", 2, "", wideLimits))
	web, api := s.running("member1", 2), s.runningOf("api", "member2", 2)
	s.size("clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate}, goals: {metrics: [{type: Resource, " +
		"resource: {name: cpu, target: {type: AverageValue, averageValue: 6}}}]}, constraints: {global: {minReplicas: 2, maxReplicas: 5}}, " +
		"federatedHPAAssignment: {federatedHPAAssignmentType: StaticWeighted}")
	s.sizeOf("api", "clusterAffinity: {clusterNames: [member2]}, policy: {updateMode: InPlaceOrRecreate}, "+
		"constraints: {container: [{name: '*', controlledValues: RequestsOnly}]}")
	s.grow("member1", slices.Collect(maps.Keys(web))...)
	s.growOf("api", "member2", slices.Collect(maps.Keys(api))...)
	s.becomes("all have their size", isSized(v1alpha1.MultidimActive, "2/2"), states("VerticalActuation=True/Actuating"))
	s.becomesOf("api", "all have their size", isSized(v1alpha1.MultidimActive, "2/2"), states("VerticalActuation=True/Actuating"))
	child := s.isSplit("member1 2-5, member2 none, member3 none")
	ofWeb, writes := s.watchLives("web", "member1"), s.ownWrites("member1")

	if err := s.Hub().Stop(); err != nil {
		s.t.Fatal(err)
	}
	s.uses(map[string]string{"member1": "9"})
	s.apply("member2", sized("api", 2, "", narrowLimits))
	s.bornSized("member1", web, 3)
	s.scaleByOf("api", "member2", 3)
	s.clampedIn("member2", 3)
	ofAPI := s.watchLives("api", "member2")
	if notes, err := s.notesIn(s.t.Context(), "member2", "ReplicaSet", "Warning", "FailedCreate"); err != nil || len(notes) > 0 {
		s.t.Errorf("Pods were refused: %q %v", notes, err)
	}

	if err := s.Hub().Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.restartAll(s.t)
	s.becomes("it sees what was done", isSized(v1alpha1.MultidimActive, "5/5"), states("VerticalActuation=True/Actuating"), hasEvicted(nil),
		func(m *v1alpha1.MultidimPodAutoscaler) error {
			if m.Status.CurrentReplicas != 5 {
				return fmt.Errorf("%d replicas", m.Status.CurrentReplicas)
			}
			return nil
		})
	s.becomesOf("api", "it has the lower limits", isSized(v1alpha1.MultidimActive, "3/3"), recommendsCPU("2", "2"),
		states("VerticalActuation=True/Actuating"), hasEvicted(nil))
	s.recovers(s.t)
	s.lasts(restless, "nothing is undone", func(ctx context.Context) error {
		told, err := s.told(ctx, "member1")
		if err == nil && told != "member1 5" {
			err = fmt.Errorf("it runs %s", told)
		}
		return err
	})
	s.clampedIn("member2", 3)
	ofWeb.keep(s.t, "though its load only rose")
	ofAPI.keep(s.t, "after the hub came back")
	if after := s.ownWrites("member1"); after != writes {
		s.t.Errorf("the autoscaler of member1 was written %d times before, and is now %d times", writes, after)
	}
	s.isSplit("member1 2-5, member2 none, member3 none")
	if again, err := s.get(s.t.Context(), "web"); err != nil || again.UID != child.UID || again.Generation != child.Generation {
		s.t.Errorf("the FederatedHPA is another one, or was written: %v", err)
	}
}

// ownWrites is how often the controller-manager has written autoscalers of a member in this namespace.
func (s *stage) ownWrites(member string) (n int) {
	s.t.Helper()
	writes, err := s.member(s.t, member).AutoscalerWrites()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, w := range writes {
		if w.Namespace == s.ns && w.User == writerInMember {
			n++
		}
	}
	return n
}

// clampedIn waits until so many Pods of api run in a member, all with as much as their lower limits allow.
func (s *stage) clampedIn(member string, replicas int) {
	s.t.Helper()
	pods := map[types.UID]*corev1.Pod{}
	eventually(s.t, s.ns+": all Pods have the lower limits", func(ctx context.Context) (err error) {
		if pods, err = s.podsOf(ctx, "api", member); err != nil {
			return err
		}
		if n := ready(pods); n != replicas || len(pods) != n {
			return fmt.Errorf("%d of %d Pods are Ready, want %d", n, len(pods), replicas)
		}
		var errs []error
		for _, pod := range pods {
			has := pod.Spec.Containers[0].Resources
			if cpu := has.Limits.Cpu().String(); cpu != "2" {
				errs = append(errs, fmt.Errorf("%s has a limit of %s", pod.Name, cpu))
			}
		}
		return errors.Join(errs...)
	})
	for _, pod := range pods {
		has := pod.Spec.Containers[0].Resources
		if cpu, memory := has.Requests.Cpu().String(), has.Requests.Memory().String(); cpu != "2" || memory != "200Mi" ||
			!strings.HasPrefix(pod.Annotations[sizedBy], "api@") {
			s.t.Errorf("%s requests %s and %s, sized by %q: want its limits, 2 and 200Mi", pod.Name, cpu, memory, pod.Annotations[sizedBy])
		}
	}
}
