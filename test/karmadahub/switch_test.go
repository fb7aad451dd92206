// SPDX-License-Identifier: Apache-2.0

package karmadahub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/lab"
)

// Karmada's operator applies all that is its own again and again, and each time somebody takes back what is ours, as an operator of
// GitOps would: much more often than once a minute. An autoscaler is written all along. That is noticed; nothing is lost in the end,
// and nobody is scaled meanwhile.
func (s *stage) reapplied() {
	r := s.atRest()
	unchanged := s.allAlong(r.unchanged)
	s.applyKarmadas()
	s.reinstall()
	s.hasEventOn("MutatingWebhookConfiguration", "mutating-config", "KarmadaIsAskedToo")
	s.hasEventOn("ValidatingWebhookConfiguration", "validating-config", "KarmadaIsAskedToo")
	s.hasEventOn("APIService", "v1beta1.metrics.k8s.io", "Split")
	rounds := 4
	if !testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		if round > 0 {
			s.applyKarmadas()
		}
		s.touch("karmadas", round)
		if err := s.InstallKinds(s.t.Context(), s.Hub()); err != nil {
			s.t.Fatal(err)
		}
		s.touch("its-webhooks", round) // which take out what the hub would keep
		s.takeBack()
		s.touch("ours", round)
	}
	unchanged()
	s.comes("nothing is lost", isIn(v1alpha1.StateActive), says("AbleToScale=True/ReadyForNewScale"), isDistributed)
	if err := r.unchanged(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	r.central.queue("90")
	r.central.runs("hub 9, member1 3, member2 3, member3 3")
}

// applyKarmadas does what an operator of Karmada's does when it starts, and with each edit of its object.
func (s *stage) applyKarmadas() {
	s.t.Helper()
	if err := errors.Join(s.InstallKarmada(s.t.Context()), s.InstallKarmadaMetricsAPIs(s.t.Context())); err != nil {
		s.t.Fatal(err)
	}
}

// takeBack does what docs/karmada.md has people do after that.
func (s *stage) takeBack() {
	s.t.Helper()
	if err := s.takeKinds(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if said, err := s.TakeOver(s.t.Context(), s.adapter); err != nil {
		s.t.Fatalf("%v: %s", err, said)
	}
}

// touch writes the autoscaler, without an edit of its spec. While kinds are replaced the hub may not serve them for a moment.
func (s *stage) touch(when string, round int) {
	s.t.Helper()
	s.eventually("it can be written", func(ctx context.Context) error {
		_, err := s.Ask(ctx, "-n", s.ns, "annotate", "--overwrite", "federatedhpa", "web", fmt.Sprintf("%s=%d", when, round))
		return err
	})
}

// allAlong checks again and again until the returned function is called, which fails the test if a check failed.
func (s *stage) allAlong(check func(context.Context) error) (ends func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	failed := make(chan error, 1)
	go func() { failed <- holds(ctx, check) }()
	return func() {
		s.t.Helper()
		cancel()
		if err := <-failed; err != nil {
			s.t.Fatalf("%s: it was not as it should be all along: %v", s.ns, err)
		}
	}
}

func isDistributed(f *v1alpha1.FederatedHPA) error {
	if !f.Distributed() {
		return errors.New("it has lost its mode")
	}
	return nil
}

// hasEventOn waits for an Event of something that has no namespace.
func (s *stage) hasEventOn(kind, name, reason string) {
	s.t.Helper()
	s.eventually("an Event "+reason+" of "+name, func(ctx context.Context) error {
		events, err := s.clients["hub"].CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == reason && event.InvolvedObject.Kind == kind && event.InvolvedObject.Name == name {
				return nil
			}
		}
		return fmt.Errorf("none among %d Events", len(events.Items))
	})
}

// An administrator gives everything back to Karmada, as docs/karmada.md says, and takes it again. Nobody is scaled meanwhile, and what
// was given back is nobody's to delete.
func (s *stage) switched() {
	const atRest = "hub 2, member1 1, member2 1"
	s.uses("50m")
	s.feed(webOf(2, "") + propagated(dividedEqually("member1", "member2"), "member1", "member2"))
	s.runs(atRest)
	s.feed(autoscalerOf("minReplicas: 2, maxReplicas: 8, metrics: [" + byCPU + "]"))
	s.comes("it has seen the Pods", isIn(v1alpha1.StateActive))
	unchanged := s.allAlong(func(ctx context.Context) error { return s.isRunning(ctx, atRest) })
	s.takeFromKarmada()

	s.giveBack()
	other, err := s.StartKarmadaControllers(s.t.Context(), "karmada-again", "--controllers=federatedHorizontalPodAutoscaler")
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually("Karmada admits an edit", func(ctx context.Context) error {
		_, err := s.Ask(ctx, "-n", s.ns, "patch", "federatedhpa", "web", "--type=merge", "-p", `{"spec":{"maxReplicas":6}}`)
		return err
	})
	s.lasts(3*syncPeriod, "it is Karmada's", func(ctx context.Context) error {
		return errors.Join(s.leadsTo(ctx, "v1beta1.metrics.k8s.io", lab.KarmadaMetricsAdapter),
			s.leadsTo(ctx, "v1beta1.custom.metrics.k8s.io", lab.KarmadaMetricsAdapter),
			s.leadsTo(ctx, "v1beta2.custom.metrics.k8s.io", lab.KarmadaMetricsAdapter))
	})
	if err := other.Stop(); err != nil {
		s.t.Fatal(err)
	}

	s.takeBack()
	if err := s.controllers.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.comes("it has seen the Pods again", isIn(v1alpha1.StateActive))
	unchanged()
	s.uses("100m")
	s.runs("hub 6, member1 3, member2 3")
}

// takeFromKarmada takes over APIs that Karmada's metrics adapter has.
func (s *stage) takeFromKarmada() {
	s.t.Helper()
	if err := s.InstallKarmadaMetricsAPIs(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	said, err := s.TakeOver(s.t.Context(), s.adapter)
	if want := "v1beta1.metrics.k8s.io: taken over from Service " + lab.KarmadaMetricsAdapter; err != nil || !strings.Contains(said, want) {
		s.t.Fatalf("the takeover said %q (%v), want %q", said, err, want)
	}
}

// giveBack does what docs/karmada.md has people do to remove the programs, but for the members and the programs' accounts.
func (s *stage) giveBack() {
	s.t.Helper()
	said, err := s.Restore(s.t.Context(), s.Hub())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, want := range []string{
		"v1beta1.metrics.k8s.io: restored to Service " + lab.KarmadaMetricsAdapter, "v1.metrics.k8s.io: deleted",
		"v1beta2.custom.metrics.k8s.io: restored to", "v1beta1.custom.metrics.k8s.io: restored to", "v1beta1.external.metrics.k8s.io: deleted",
	} {
		if !strings.Contains(said, want) {
			s.t.Fatalf("restore said %q, want %q", said, want)
		}
	}
	deleted, err := s.Ask(s.t.Context(), "delete", "--dry-run=server", "--ignore-not-found", "-o", "name",
		"-k", s.Deploy("overlays/karmada/beside-metrics-adapter"))
	if err != nil || strings.Contains(deleted.Stdout, "metrics.k8s.io") {
		s.t.Fatalf("deleting the overlay deletes APIServices that were given back: %s (%v)", deleted.Stdout, err)
	}
	if err := s.controllers.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.ask("delete", "mutatingwebhookconfiguration,validatingwebhookconfiguration", "fleetscale")
	if err := s.InstallKarmada(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// leadsTo wants an APIService that leads to a Service: namespace and name.
func (s *stage) leadsTo(ctx context.Context, apiService, want string) error {
	said, err := s.Ask(ctx, "get", "apiservice", apiService, "-o", "jsonpath={.spec.service.namespace}/{.spec.service.name}")
	if err == nil && said.Stdout != want {
		err = fmt.Errorf("%s leads to %s, want %s", apiService, said.Stdout, want)
	}
	return err
}
