// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// writerInMember is who the controller-manager is there.
const writerInMember = "system:serviceaccount:" + fixture.MemberNamespace + ":" + fixture.MemberWriter

// A member has an autoscaler of its own for the workload. It is not touched,
// until it is given to ours; then it is taken over as it is.
func (s *stage) memberAutoscalerIsAdopted() {
	s.queue("20")
	s.runIn(2, allMembers()...)
	s.apply("member1", fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: local}\nspec: "+
		"{scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: web}, maxReplicas: 7, metrics: [%s]}\n", s.kind, s.byQueue(10)))
	s.distribute("minReplicas: 2, maxReplicas: 12", equally, "")
	f := s.isSplit("member1 none, member2 1-6, member3 1-6")
	s.comes("it says so", areIn("member1 Conflict, member2 Active, member3 Active"),
		because("member1", "ScaledByOthers", "HorizontalPodAutoscaler dist-adopt/local", "fleetscale.io/adopt-by: web"))
	s.hasEvent("Warning", "ClusterStateChanged", "cluster member1 is Conflict", "HorizontalPodAutoscaler dist-adopt/local")
	writes, err := s.member(s.t, "member1").AutoscalerWrites()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, w := range writes {
		if w.Namespace == s.ns && w.User == writerInMember {
			s.t.Errorf("%s has written HorizontalPodAutoscaler %s", w.User, w.Name)
		}
	}

	autoscalers := s.memberAutoscalers("member1")
	before, err := autoscalers.Patch(s.t.Context(), "local", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"fleetscale.io/adopt-by":"web"}}}`), metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.isSplit("member1 1-4, member2 1-4, member3 1-4")
	s.comes("it takes part", areIn("member1 Active, member2 Active, member3 Active"), isIn(v1alpha1.StateActive))
	after, err := autoscalers.Get(s.t.Context(), "local", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	if after.GetUID() != before.GetUID() {
		s.t.Errorf("it is another object: %s, was %s", after.GetUID(), before.GetUID())
	}
	s.neverAbove(12, f.UID)
}

// Somebody writes the wrong clusters into the affinity. Those that are out lose
// our autoscalers; the workload only where we made it, and not before what is
// left is Ready.
func (s *stage) clustersLeave() {
	s.queue("20")
	s.slots(map[string]int{"member1": 9, "member2": 9, "member3": 2})
	s.apply("hub", s.inSlots(0))
	s.runInSlots(map[string]int{"member1": 2, "member3": 2})
	s.distribute("minReplicas: 3, maxReplicas: 9", equally, "")
	f := s.isSplit("member1 1-3, member2 1-3, member3 1-3")
	s.runs("member1 2, member2 2, member3 2")

	ended := s.watchLosses(allMembers()...)
	s.change(`{"spec":{"clusterAffinity":{"clusterNames":["member3"]}}}`)
	s.isSplit("member1 none, member2 none, member3 3-9")
	s.runs("member3 3 (2 Ready)")
	s.lasts(3*syncPeriod, "what we made is there while others are not Ready", func(ctx context.Context) error {
		return s.has(ctx, "member2", "web")
	})
	s.stays(0, "member1 2, member2 2")
	ended.none(s, "before others are Ready")

	s.slots(map[string]int{"member3": 9})
	s.runs("member3 3")
	eventually(s.t, "what we made is gone", func(ctx context.Context) error {
		if err := s.has(ctx, "member2", "web"); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
	s.hasEvent("Normal", "WorkloadDeleted", `Deployment "web"`, "member2")
	s.comes("they are out", areIn("member3 Active"))
	s.stays(2*syncPeriod, "member1 2, member3 3")
	s.neverAbove(9, f.UID)
}

func (s *stage) has(ctx context.Context, cluster, name string) error {
	_, err := s.workload(cluster).Get(ctx, name, metav1.GetOptions{})
	return err
}

// Members that lack the workload take no part where the hub has none either.
func (s *stage) noTemplate() {
	s.queue("20")
	s.runIn(2, "member1")
	s.distribute("minReplicas: 2, maxReplicas: 6", equally, "")
	s.isSplit("member1 2-6, member2 none, member3 none")
	s.comes("it says what is missing", areIn("member1 Active, member2 Excluded, member3 Excluded"),
		because("member2", "TargetNotFound", `there is no Deployment "web" that can be scaled`))
	s.hasEvent("Warning", "ClusterStateChanged", "cluster member2 is Excluded", "cluster member3 is Excluded")

	s.apply("hub", webOf(s.kind, 0, false))
	s.isSplit("member1 1-2, member2 1-2, member3 1-2")
	s.runs("member1 2, member2 2, member3 2")
}

// The members' autoscalers go with the FederatedHPA, or stay with their bounds.
// Workloads stay.
func (s *stage) deleted() {
	s.queue("20")
	for _, member := range allMembers() {
		s.apply(member, webOf(s.kind, 2, false))
		s.apply(member, strings.ReplaceAll(webOf(s.kind, 2, false), "web", "kept"))
	}
	s.distribute("minReplicas: 3, maxReplicas: 9", equally, "")
	s.apply("hub", s.autoscalerOf("kept",
		fmt.Sprintf("minReplicas: 3, maxReplicas: 12, metrics: [%s], federatedHPAAssignment: {%s}, deletionPolicy: Orphan", s.byQueue(10),
			equally)))
	s.isSplit("member1 1-3, member2 1-3, member3 1-3")
	s.comesTo("kept", "it is split", func(f *v1alpha1.FederatedHPA) error {
		if got, want := saidBounds(f), "member1 1-4, member2 1-4, member3 1-4"; got != want {
			return fmt.Errorf("it is split as %s, want %s", got, want)
		}
		return nil
	})
	s.awaitAutoscalers("kept 1-4, web 1-3")
	for _, name := range []string{"web", "kept"} {
		if err := s.autoscalers().Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.isGone("web")
	s.isGone("kept")
	s.awaitAutoscalers("kept 1-4 free")
	s.stays(2*time.Second, "member1 2, member2 2, member3 2")
}

// awaitAutoscalers waits until all members have these: "kept 1-4 free, web 1-3"; free
// ones do not bear our label.
func (s *stage) awaitAutoscalers(want string) {
	s.t.Helper()
	eventually(s.t, s.ns+": members have the autoscalers "+want, func(ctx context.Context) error {
		for _, member := range allMembers() {
			list, err := s.memberAutoscalers(member).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			var all []string
			for i := range list.Items {
				hpa, err := asAutoscaler(&list.Items[i])
				if err != nil {
					return err
				}
				told := hpa.Name + " " + boundsOf(hpa)
				if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
					told += " free"
				}
				all = append(all, told)
			}
			if got := strings.Join(all, ", "); got != want {
				return fmt.Errorf("%s has %q", member, got)
			}
		}
		return nil
	})
}
