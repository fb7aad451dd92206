// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
)

// doubted is for how long an object that has lost fields is not reconciled before
// anything is said of it.
const doubted = time.Minute

// FederatedHPAs are written while the hub serves Karmada's kinds, which drop what
// makes them distributed: the metadata of one, and the spec of the other too; of
// the latter the copy is gone as well. Their autoscalers stay, under the next
// leader as well, until the one is restored, and the manifest of the other is
// applied again. A switch to central mode is still one, also for who applies. Rules
// of a CronFederatedHPA have what they lost again too, and all that a second time.
func (s *stage) modeIsDropped() {
	edited := s.beside("edited")
	both := []*stage{s, edited}
	const bounds, split = "minReplicas: 3, maxReplicas: 9", "member1 1-3, member2 1-3, member3 1-3"
	for _, each := range both {
		each.queue("20")
		each.runIn(2, allMembers()...)
		each.distribute(bounds, equally, "")
	}
	for _, each := range both {
		each.isSplit(split)
	}
	s.apply("hub", `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: punctual}
spec:
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}
  rules: [{name: yearly, schedule: "0 0 1 1 *", targetMaxReplicas: 9, maxDelaySeconds: 600}]
`)
	s.isPunctual()
	ended := s.watchLosses(allMembers()...)

	s.dropsFields()
	edited.change(`{"metadata":{"annotations":{"fleetscale.io/spec":null}},"spec":{"maxReplicas":12}}`)
	if err := s.InstallKinds(s.t.Context(), s.Hub()); err != nil {
		s.t.Fatal(err)
	}
	for _, each := range both {
		each.hasEvent("Warning", "SpecCut", "spec.federatedHPAAssignment")
	}
	s.hasEvent("Normal", "SpecRestored", "spec.federatedHPAAssignment")
	s.isPunctual()
	s.comes("it is whole again, and nobody owns that but those who wrote it", isIn(v1alpha1.StateActive),
		says(able+"=True/ReadyForNewScale"), disowned)
	f := edited.comes("it says what it has lost", isIn(v1alpha1.StateFailing), says(able+"=False/SpecCut", "spec.federatedHPAAssignment"))
	if f.Distributed() {
		s.t.Errorf("%s: the hub has dropped nothing", edited.ns)
	}
	if err := s.leader(s.t).Kill(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the other one leads", func(context.Context) error {
		if s.leads(s.t) == nil {
			return errors.New("none does")
		}
		return nil
	})
	s.lasts(doubted+5*syncPeriod, "the autoscalers stay", func(ctx context.Context) error {
		for _, each := range both {
			f, err := each.get(ctx, "web")
			if err != nil {
				return err
			}
			has, err := each.bounds(f, allMembers()...)
			if err != nil {
				return err
			}
			if has != split {
				return fmt.Errorf("%s: members have %s", each.ns, has)
			}
		}
		return nil
	})

	edited.distribute(bounds, equally, "")
	for _, each := range both {
		each.isSplit(split)
		each.comes("it is distributed again", isIn(v1alpha1.StateActive), says(able+"=True/ReadyForNewScale"))
	}
	s.restartAll(s.t) // all replicas are to see Karmada's kinds
	s.dropsFields()
	if err := s.InstallKinds(s.t.Context(), s.Hub()); err != nil {
		s.t.Fatal(err)
	}
	s.comes("it is whole a second time", isIn(v1alpha1.StateActive), says(able+"=True/ReadyForNewScale"), disowned)
	s.isSplit(split)
	s.isPunctual()
	ended.none(s, "when the mode was dropped")
	s.change(`{"spec":{"replicaDistribution":{},"federatedHPAAssignment":null}}`)
	s.comes("it is central", s.isWhole(0), isIn(v1alpha1.StateActive))
}

// dropsFields has the hub serve Karmada's kinds, and somebody write autoscalers meanwhile.
func (s *stage) dropsFields() {
	s.t.Helper()
	s.bringKarmadaKinds()
	s.seesKarmadaKinds()
	s.change(`{"metadata":{"annotations":{"somebody":"was-here"}}}`)
	if _, err := s.Ask(s.t.Context(), "-n", s.ns, "label", "cronfhpa", "punctual", "somebody=was-here"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.Ask(s.t.Context(), "-n", s.ns, "label", "cronfhpa", "punctual", "somebody-"); err != nil {
		s.t.Fatal(err)
	}
}

// isPunctual waits until the rule of the CronFederatedHPA has the field that Karmada's kind lacks, and is ready.
func (s *stage) isPunctual() {
	s.t.Helper()
	eventually(s.t, s.ns+": the rule is whole", func(ctx context.Context) error {
		const path = `jsonpath={.spec.rules[0].maxDelaySeconds} {.status.conditions[?(@.type=="Ready")].status}`
		said, err := s.Ask(ctx, "-n", s.ns, "get", "cronfhpa", "punctual", "-o", path)
		if err == nil && said.Stdout != "600 True" {
			err = fmt.Errorf("it is late by at most, and ready: %q", said.Stdout)
		}
		return err
	})
}

// disowned wants no field of the spec to be ours: else who applies could not remove it.
func disowned(f *v1alpha1.FederatedHPA) error {
	if !f.Distributed() {
		return errors.New("it is not distributed")
	}
	for _, entry := range f.ManagedFields {
		if entry.Subresource == "" && restore.ByKeeper(entry) {
			return fmt.Errorf("%s owns %s", entry.Manager, entry.FieldsV1.GetRawBytes())
		}
	}
	return nil
}
