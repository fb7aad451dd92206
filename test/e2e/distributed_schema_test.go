// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
)

// doubted is for how long an object that has lost fields is not reconciled before
// anything is said of it.
const doubted = time.Minute

// FederatedHPAs are written while the hub serves Karmada's kinds, which drop what
// makes them distributed: the metadata of one, and the spec of the other too; of
// the latter the copy is gone as well. Their autoscalers stay, under the next
// leader as well, until the one is restored, and the manifest of the other is
// applied again. A switch to central mode is still one, also for who applies.
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
	ended := s.watchLosses(allMembers()...)

	s.bringKarmadaKinds()
	s.seesKarmadaKinds()
	s.change(`{"metadata":{"annotations":{"somebody":"was-here"}}}`)
	edited.change(`{"metadata":{"annotations":{"fleetscale.io/spec":null}},"spec":{"maxReplicas":12}}`)
	if err := s.InstallKinds(s.t.Context(), s.Hub()); err != nil {
		s.t.Fatal(err)
	}
	for _, each := range both {
		each.hasEvent("Warning", "SpecCut", "spec.federatedHPAAssignment")
	}
	s.hasEvent("Normal", "SpecRestored", "spec.federatedHPAAssignment")
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
	ended.none(s, "when the mode was dropped")
	s.change(`{"spec":{"replicaDistribution":{},"federatedHPAAssignment":null}}`)
	s.comes("it is central", s.isWhole(0), isIn(v1alpha1.StateActive))
	s.restartAll(s.t)
}

// disowned wants no field of the spec to be ours: else who applies could not remove it.
func disowned(f *v1alpha1.FederatedHPA) error {
	if !f.Distributed() {
		return errors.New("it is not distributed")
	}
	for _, entry := range f.ManagedFields {
		if entry.Subresource == "" && record.ByRestorer(entry) {
			return fmt.Errorf("%s owns %s", entry.Manager, entry.FieldsV1.GetRawBytes())
		}
	}
	return nil
}
