// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// A member is lost for longer than the grace: the others get its part, whatever
// the policy. When it is back all bounds are right again. What is deleted
// meanwhile stays until that member has been seen.
func (s *stage) memberLost() {
	lost, weighted, doomed := s, s.beside("weights"), s.beside("doomed")
	for _, each := range []*stage{lost, weighted, doomed} {
		each.queue("20")
		each.slots(map[string]int{"member1": 10, "member2": 10, "member3": 10})
	}
	lost.runInSlots(map[string]int{"member1": 2, "member2": 2, "member3": 2})
	weighted.runInSlots(map[string]int{"member1": 1, "member2": 2, "member3": 2})
	doomed.runInSlots(map[string]int{"member1": 2, "member2": 2, "member3": 2})
	lost.distribute("minReplicas: 2, maxReplicas: 24", "federatedHPAAssignmentType: DynamicWeighted, rebalance: {strategy: None}", "")
	weighted.distribute("minReplicas: 2, maxReplicas: 10", weights123, "")
	doomed.distribute("minReplicas: 3, maxReplicas: 9", equally, "")
	f, w := lost.isSplit("member1 1-8, member2 1-8, member3 1-8"), weighted.isSplit("member1 1-1, member2 1-4, member3 1-5")
	d := doomed.isSplit("member1 1-3, member2 1-3, member3 1-3")
	s.comes("all is as told", hasClusters("member1 Active 2, member2 Active 2, member3 Active 2"))

	s.freeze(s.t, "member3")
	since := time.Now()
	ended := lost.watchLosses("member1", "member2")
	if err := doomed.autoscalers().Delete(s.t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.comes("it says so", isIn(v1alpha1.StateHeld), areIn("member1 Active, member2 Active, member3 Unreachable"),
		says(visible+"=False/ClusterUnreachable", "member3"))
	lost.isSplitIn("member1 1-12, member2 1-12")
	weighted.isSplitIn("member1 1-3, member2 2-7")
	s.hasEvent("Normal", "BoundsTakenOver", "member1: 1-8 to 1-12", "member2: 1-8 to 1-12")
	for _, each := range []struct {
		*stage
		f *v1alpha1.FederatedHPA
	}{{lost, f}, {weighted, w}} {
		for _, entry := range each.ledger(each.f.UID, since) {
			if early := since.Add(failoverGrace); entry.Begun.Before(early) {
				s.t.Errorf("%s: this was written %v before the grace was over: %s", each.ns, early.Sub(entry.Begun), &entry)
			}
		}
	}
	doomed.hasEvent("Warning", "WaitingForClusters", "member3")
	if _, err := doomed.get(s.t.Context(), "web"); err != nil {
		s.t.Errorf("%s: it did not wait for member3: %v", doomed.ns, err)
	}

	s.thaw(s.t, "member3")
	weighted.isSplit("member1 1-1, member2 1-4, member3 1-5")
	lost.isSplit("member1 1-11, member2 1-11, member3 1-2")
	lost.comes("it is back", areIn("member1 Active, member2 Active, member3 Active"), isIn(v1alpha1.StateActive))
	back := time.Now()
	doomed.isGone("web")
	for _, member := range allMembers() {
		if own, err := doomed.ownIn(s.t.Context(), member, d.UID); err != nil || len(own) > 0 {
			s.t.Errorf("%s: %s has %d autoscalers of what is gone (%v)", doomed.ns, member, len(own), err)
		}
	}
	ended.none(s, "when a member was lost")
	lost.quiet(f.UID)
	lost.neverAbove(24, f.UID, absence{"member3", since.Add(failoverGrace), back})
	weighted.neverAbove(10, w.UID, absence{"member3", since.Add(failoverGrace), back})
	s.recovers(s.t)
}

// beside is another stage of the same case.
func (s *stage) beside(name string) *stage {
	s.t.Helper()
	other := s.stage(s.t, s.ns+"-"+name)
	s.t.Cleanup(other.explain)
	return other
}

// isSplitIn waits until the members that are named have these bounds.
func (s *stage) isSplitIn(want string) *v1alpha1.FederatedHPA {
	s.t.Helper()
	return s.comes("it is split as "+want, func(f *v1alpha1.FederatedHPA) error {
		got, err := s.bounds(f, namedIn(want)...)
		if err == nil && got != want {
			err = fmt.Errorf("members have %s", got)
		}
		return err
	})
}

// isGone waits until the FederatedHPA no longer exists.
func (s *stage) isGone(name string) {
	s.t.Helper()
	eventually(s.t, s.ns+": "+name+" is gone", func(ctx context.Context) error {
		if _, err := s.autoscalers().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("it is not"), err)
		}
		return nil
	})
}

// The leader dies when a part of a change is written: one member refuses what
// is to become less there, so another one has not got more yet. The next leader
// finishes it. member3 may be broken meanwhile.
func (s *stage) leaderDiesHalfway() {
	s.queue("20")
	s.runIn(2, "member1", "member2")
	const in = ", clusterAffinity: {clusterNames: [member1, member2]}"
	s.distribute("minReplicas: 2, maxReplicas: 12", equally, in)
	f := s.isSplitIn("member1 1-6, member2 1-6")
	allow := s.refuse("member2")
	s.change(`{"spec":{"federatedHPAAssignment":{"clusterAutoscalingPreference":[` +
		`{"targetCluster":{"clusterNames":["member1"]},"staticWeight":2},{"targetCluster":{"clusterNames":["member2"]},"staticWeight":1}]}}}`)
	s.comes("the half of it cannot be written", says(able+"=False/FailedWrite", "member2", "is not allowed by the test"),
		isIn(v1alpha1.StateFailing))
	s.isSplitIn("member1 1-6, member2 1-6")
	if err := s.leader(s.t).Kill(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the other one leads", func(context.Context) error {
		if s.leads(s.t) == nil {
			return errors.New("none does")
		}
		return nil
	})
	allow()
	s.isSplitIn("member1 2-8, member2 1-4")
	s.comes("it is well", says(able+"=True/ReadyForNewScale"), isIn(v1alpha1.StateActive))
	s.restartAll(s.t)
	s.neverAbove(12, f.UID)
}

// refuse has a member's API server refuse changes of autoscalers in this
// namespace, until allow is called.
func (s *stage) refuse(member string) (allow func()) {
	s.t.Helper()
	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [autoscaling], apiVersions: ["*"], operations: [CREATE, UPDATE],
			resources: [horizontalpodautoscalers]}]}
  validations: [{expression: "false", message: is not allowed by the test}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny],
	matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}}}
`, s.ns)
	run := func(ctx context.Context, verb string) error {
		_, err := s.Feed(ctx, policy, "--context", member, verb, "-f", "-")
		return err
	}
	if err := run(s.t.Context(), "apply"); err != nil {
		s.t.Fatal(err)
	}
	removed := false
	allow = func() {
		if err := run(afterwards(s.t), "delete"); err != nil && !removed {
			s.t.Error(err)
		}
		removed = true
	}
	s.t.Cleanup(func() {
		if !removed {
			allow()
		}
	})
	eventually(s.t, member+" refuses autoscalers", func(ctx context.Context) error {
		probe := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: probe}\nspec: {scaleTargetRef: {apiVersion: " +
			"apps/v1, kind: Deployment, name: probe}, maxReplicas: 1}\n"
		if _, err := s.Feed(ctx, probe, "--context", member, "-n", s.ns, "create", "--dry-run=server", "-f", "-"); err == nil {
			return errors.New("it does not yet")
		}
		return nil
	})
	return allow
}

// A member may be read and not written. It is said, and neither what is there
// already nor the other members are disturbed.
func (s *stage) memberRefuses() {
	settled := s.beside("settled")
	for _, each := range []*stage{s, settled} {
		each.queue("20")
		each.runIn(2, allMembers()...)
	}
	settled.distribute("minReplicas: 3, maxReplicas: 9", equally, "")
	f := settled.isSplit("member1 1-3, member2 1-3, member3 1-3")
	settled.quiet(f.UID)
	settled.comes("it is well", isIn(v1alpha1.StateActive))
	begin := time.Now()
	s.mayNotWrite("member3")

	s.distribute("minReplicas: 3, maxReplicas: 9", equally, "")
	s.isSplitIn("member1 1-3, member2 1-3, member3 none")
	s.comes("it says so", says(able+"=False/FailedWrite", "bounds cannot be written", "member3", "forbidden"),
		because("member3", "FailedWrite", "horizontalpodautoscalers"), isIn(v1alpha1.StateFailing))
	s.runs("member1 2, member2 2, member3 2")
	settled.comes("it is as it was", isIn(v1alpha1.StateActive), areIn("member1 Active, member2 Active, member3 Active"),
		says(able+"=True/ReadyForNewScale"))
	settled.nothingWritten(f.UID, begin)

	s.mayWrite("member3")
	own := s.isSplit("member1 1-3, member2 1-3, member3 1-3")
	s.comes("it is well", isIn(v1alpha1.StateActive), says(able+"=True/ReadyForNewScale"))
	s.neverAbove(9, own.UID)
	settled.nothingWritten(f.UID, begin)
}

// mayNotWrite takes from our account in a member the right to write autoscalers.
func (s *stage) mayNotWrite(member string) {
	s.t.Helper()
	s.t.Cleanup(func() { s.mayWrite(member) })
	role := s.kubectl(s.t, "--context", member, "get", "clusterrole", "fleetscale-write", "-o",
		`jsonpath={range .rules[*]}{.resources}{"\n"}{end}`).Stdout
	at := indexOfLine(role, `["horizontalpodautoscalers"]`)
	if at < 0 {
		s.t.Fatalf("no rule is of HorizontalPodAutoscalers alone: %s", role)
	}
	s.kubectl(s.t, "--context", member, "patch", "clusterrole", "fleetscale-write", "--type=json",
		"-p", fmt.Sprintf(`[{"op":"replace","path":"/rules/%d/verbs","value":["get","list","watch"]}]`, at))
	eventually(s.t, member+" forbids it", func(ctx context.Context) error {
		if said, err := s.Ask(ctx, "--context", member, "-n", s.ns, "auth", "can-i", "patch", "horizontalpodautoscalers.autoscaling", "--as",
			writerInMember); err == nil {
			return fmt.Errorf("it says %s", said.Stdout)
		}
		return nil
	})
}

// mayWrite gives it all the rights of deploy/ back.
func (s *stage) mayWrite(member string) {
	if _, err := s.Ask(afterwards(s.t), "--context", member, "apply", "-k", s.Deploy("member-write")); err != nil {
		s.t.Error(err)
	}
}

// The hub is away while the load rises: the members go on. When it is back, it
// makes up for what only it can do, without detours, and leaves alone what is
// right.
func (s *stage) hubAway() {
	calm := s.beside("calm")
	s.queue("20")
	s.slots(map[string]int{"member1": 20, "member2": 20})
	s.runInSlots(map[string]int{"member1": 2, "member2": 1})
	s.distribute("minReplicas: 2, maxReplicas: 20",
		"federatedHPAAssignmentType: Prioritized, rebalance: {strategy: None}, clusterAutoscalingPreference: ["+
			"{targetCluster: {clusterNames: [member1]}, priority: 2}, {targetCluster: {clusterNames: [member2]}, priority: 1, "+
			"autoscalingMinThreshold: 1}]", ", autoscaleMultiClusterDelay: 4")
	calm.queue("10")
	calm.runIn(1, allMembers()...)
	calm.distribute("minReplicas: 3, maxReplicas: 12", equally, "")
	f, c := s.isSplit("member1 1-19, member2 1-1, member3 none"), calm.isSplit("member1 1-4, member2 1-4, member3 1-4")
	s.runs("member1 2, member2 1")
	for _, each := range []*stage{s, calm} {
		each.comes("it is well", says(active+"=True/ValidMetricFound"))
	}
	s.quiet(f.UID)

	if err := s.Hub().Stop(); err != nil {
		s.t.Fatal(err)
	}
	gone := time.Now()
	ended, kept := s.watchLosses("member1", "member2"), calm.watchLosses(allMembers()...)
	s.slots(map[string]int{"member1": 5})
	s.queues(map[string]string{"member1": "100", "member2": "40"})
	calm.queue("30")
	calm.runs("member1 3, member2 3, member3 3")
	s.runs("member1 10 (5 Ready), member2 1")
	calm.nothingWritten(c.UID, gone)
	s.nothingWritten(f.UID, gone)

	if err := s.Hub().Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.restartAll(s.t)
	s.isSplit("member1 1-5, member2 1-15, member3 none")
	s.runs("member1 5, member2 4")
	calm.comes("it has seen them", isIn(v1alpha1.StateActive), hasClusters("member1 Active 3, member2 Active 3, member3 Active 3"))
	s.quiet(f.UID)
	s.neverTurnedBack(f.UID, gone)
	s.neverAbove(20, f.UID)
	calm.nothingWritten(c.UID, gone)
	ended.none(s, "as the hub was away and came back")
	kept.none(calm, "as the hub was away and came back")
	s.recovers(s.t)
	s.restartAll(s.t)
}
