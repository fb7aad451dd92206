// SPDX-License-Identifier: Apache-2.0

package karmadahub_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// TestKarmada is one fleet after the other: a controller of Karmada's that comes and goes meets all autoscalers that there are.
func TestKarmada(t *testing.T) {
	e := started(t)
	for _, tc := range []struct {
		name string
		test func(*stage)
	}{
		{"divided", (*stage).divided},
		{"duplicated", (*stage).wholeInEach},
		{"distributed", (*stage).distributed},
		{"reinstalled", (*stage).reinstalled},
		{"reapplied", (*stage).reapplied},
		{"switched", (*stage).switched},
		{"beside", (*stage).besideKarmada},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(e.stage(t, tc.name)) })
	}
}

// Karmada divides the number of the hub among the members, and its Clusters are the members of the fleet: the one of the agent too.
func (s *stage) divided() {
	s.queue("30")
	s.feed(webOf(3, "") + propagated(dividedEqually(allMembers()...), allMembers()...))
	s.runs("hub 3, member1 1, member2 1, member3 1")
	s.eventually("the Pods of all Clusters are known", func(ctx context.Context) error {
		return s.covers(ctx, "answered=member1,member2,member3")
	})
	s.feed(autoscalerOf("minReplicas: 3, maxReplicas: 12, metrics: [" + s.byQueue() + "]"))
	s.comes("it has seen the queue", isIn(v1alpha1.StateActive), says("FleetVisible=True/AllClustersVisible"))
	s.queue("90")
	s.runs("hub 9, member1 3, member2 3, member3 3")
	s.queue("60")
	s.runs("hub 6, member1 2, member2 2, member3 2")
	s.lasts(3*syncPeriod, "nobody undoes it", func(ctx context.Context) error {
		return s.isRunning(ctx, "hub 6, member1 2, member2 2, member3 2")
	})
}

// covers asks the hub for the usage of Pods, and wants this coverage.
func (s *stage) covers(ctx context.Context, want string) error {
	config, err := s.Hub().RESTConfig()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/apis/metrics.k8s.io/v1beta1/namespaces/"+s.ns+"/pods", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if got := response.Header.Get("Fleetscale-Coverage"); got != want {
		return fmt.Errorf("the coverage is %q, want %q; the answer is %d %s", got, want, response.StatusCode, text)
	}
	return nil
}

// Karmada runs the number of the hub in each member, by default.
func (s *stage) wholeInEach() {
	s.queue("40")
	s.feed(webOf(2, "") + propagated(duplicated, "member1", "member2"))
	s.runs("hub 2, member1 2, member2 2")
	s.feed(autoscalerOf("minReplicas: 1, maxReplicas: 6, metrics: [" + s.byQueue() + "]"))
	s.comes("it has seen the queue", isIn(v1alpha1.StateActive))
	s.queue("70") // 7 replicas are 4 in one, and 3 in the other
	s.runs("hub 4, member1 4, member2 4")
	s.queue("20")
	s.runs("hub 1, member1 1, member2 1")
}

// Members scale by themselves, and Karmada does not interfere.
func (s *stage) distributed() {
	s.queue("60")
	s.feed(webOf(2, retained) + propagated(duplicated, allMembers()...))
	s.runs("member1 2, member2 2, member3 2")
	s.feed(autoscalerOf("minReplicas: 6, maxReplicas: 12, metrics: [" + s.byQueue() + "], " + equally))
	s.eventually("the bounds are divided", func(ctx context.Context) error { return s.isSplit(ctx, "member1 2-4, member2 2-4, member3 2-4") })
	s.runs("member1 4, member2 4, member3 4") // each sees a queue of 60
	s.queue("30")
	s.feed(autoscalerOf("minReplicas: 9, maxReplicas: 12, metrics: [" + s.byQueue() + "], " + equally + calm))
	s.runs("member1 3, member2 3, member3 3")
	s.lasts(3*syncPeriod, "Karmada does not undo it", func(ctx context.Context) error {
		return s.isRunning(ctx, "member1 3, member2 3, member3 3")
	})
}

const (
	equally = "federatedHPAAssignment: {federatedHPAAssignmentType: StaticWeighted}"
	// calm has replicas go at once.
	calm = ", behavior: {scaleDown: {stabilizationWindowSeconds: 0}}"
)

// Karmada's installer runs again, and brings its kinds and its webhooks back: autoscalers that are written then lose what Karmada
// does not know. Nobody is scaled in, and no autoscaler of a member ends.
func (s *stage) reinstalled() {
	r := s.atRest()
	s.reinstall()
	s.ask("annotate", "federatedhpa", "web", "somebody=was-here")
	if err := s.takeKinds(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.comes("it says what it has lost", isIn(v1alpha1.StateFailing), says("AbleToScale=False/SpecCut"))
	s.hasEvent("SpecCut")
	if err := s.controllers.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.controllers.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	kept := 3 * syncPeriod
	if !testing.Short() {
		kept += doubted
	}
	s.lasts(kept, "all stays as it was, under the next leader too", r.unchanged)
	s.feed(autoscalerOf(r.spec))
	s.comes("it is distributed again", isIn(v1alpha1.StateActive), says("AbleToScale=True/ReadyForNewScale"))
	r.central.queue("90")
	r.central.runs("hub 9, member1 3, member2 3, member3 3")
}

// resting is an autoscaler of each mode that nobody has a reason to scale: the stage's own is in distributed mode.
type resting struct {
	*stage
	spec    string
	central *stage
}

const (
	splitAtRest   = "member1 2-4, member2 2-4, member3 2-4"
	membersAtRest = "member1 2, member2 2, member3 2"
)

func (s *stage) atRest() *resting {
	r := &resting{stage: s, central: s.stage(s.t, s.ns+"-central")}
	r.spec = "minReplicas: 6, maxReplicas: 12, metrics: [" + byCPU + "], " + equally // whose metrics Karmada's webhook admits
	s.uses("50m")                                                                    // half of what a Pod requests
	s.feed(webOf(2, retained) + propagated(duplicated, allMembers()...))
	s.runs(membersAtRest)
	s.feed(autoscalerOf(r.spec))
	s.eventually("the bounds are divided", func(ctx context.Context) error { return s.isSplit(ctx, splitAtRest) })
	c := r.central
	c.queue("60")
	c.feed(webOf(6, "") + propagated(dividedEqually(allMembers()...), allMembers()...))
	c.feed(autoscalerOf("minReplicas: 3, maxReplicas: 12, metrics: [" + c.byQueue() + "]"))
	c.comes("it has seen the queue", isIn(v1alpha1.StateActive))
	c.runs("hub 6, " + membersAtRest)
	return r
}

// unchanged reports whether nobody was scaled, and no bounds of members were changed.
func (r *resting) unchanged(ctx context.Context) error {
	if err := r.isSplit(ctx, splitAtRest); err != nil {
		return err
	}
	if err := r.isRunning(ctx, membersAtRest); err != nil {
		return err
	}
	return r.central.isRunning(ctx, "hub 6, "+membersAtRest)
}

// reinstall applies what Karmada's installer does, and returns when our controllers have seen it.
func (s *stage) reinstall() {
	s.t.Helper()
	if err := s.InstallKarmada(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the controllers are not ready", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.controllers.Health("/readyz/schema"), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return fmt.Errorf("they are: %s", response.Status)
		}
		return nil
	})
}

// Karmada's own controller is on beside ours. Ours sees that, says so, and leaves the object to it.
func (s *stage) besideKarmada() {
	s.uses("50m")
	s.feed(webOf(2, "") + propagated(dividedEqually("member1", "member2"), "member1", "member2"))
	s.runs("hub 2, member1 1, member2 1")
	s.feed(autoscalerOf("minReplicas: 2, maxReplicas: 8, metrics: [" + byCPU + "]"))
	s.comes("it has seen the Pods", isIn(v1alpha1.StateActive))
	other, err := s.StartKarmadaControllers(s.t.Context(), "karmada-autoscaler", "--controllers=federatedHorizontalPodAutoscaler")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := other.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	s.hasEvent("AnotherController")
	s.uses("100m")
	s.eventually("Karmada's controller scales on", func(ctx context.Context) error { return s.isRunning(ctx, "hub 8, member1 4, member2 4") })
}

// lasts checks again and again for a while.
func (s *stage) lasts(d time.Duration, what string, check func(context.Context) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	if err := holds(ctx, check); err != nil {
		s.t.Fatalf("%s: %s: %v", s.ns, what, err)
	}
}

// holds checks again and again until ctx ends, or a check fails. One that was cut off did not fail.
func holds(ctx context.Context, check func(context.Context) error) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := check(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
