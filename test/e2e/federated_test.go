// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"sync"
	"testing"
)

// Central FederatedHPAs, each with a workload in a namespace of its own. Those
// that need the fleet to be whole are checked side by side; then it is broken,
// in one way after another.
func TestFederated(t *testing.T) {
	f := launchFederated(t, whole(t))
	f.sideBySide(t, map[string]func(*stage){
		"fed-hub":       (*stage).loadByTheHub,
		"fed-parts":     (*stage).loadByParts,
		"fed-plain":     (*stage).scaledWhereItIs,
		"fed-rules":     (*stage).dividedByRules,
		"fed-stateful":  (*stage).namesThatCollide,
		"fed-several":   (*stage).largestWins,
		"fed-zero":      (*stage).toZeroAndBack,
		"fed-bounds":    (*stage).boundsAtOnce,
		"fed-cron":      (*stage).ruleRaisesMin,
		"fed-missing":   (*stage).nothingToScale,
		"fed-nofigures": (*stage).nothingToGoBy,
		"fed-same":      (*stage).twoOfTheSamePods,
		"fed-rival":     (*stage).memberHasItsOwn,
		"fed-parity":    (*stage).decidesAsKubernetes,
		"fed-mode":      (*stage).observesFirst,
		"fed-many":      (*stage).manyAtOnce,
		"fed-observe":   (*stage).observesAll,
		"fed-sizes":     (*stage).recommendsSizes,
		"fed-goals":     (*stage).goalsScale,
		"fed-grow":      (*stage).growsInPlace,
		"fed-evict":     (*stage).evictsForSize,
		"fed-refused":   (*stage).nodesRefuse,
		"fed-bypassed":  (*stage).policyDoesNothing,
		"fed-two":       (*stage).twoInOneNamespace,
		"fed-webhooks":  (*stage).webhooksOfOthers,
	})
	f.sideBySide(t, map[string]func(*stage){
		"fed-frozen": (*stage).frozenAtHighLoad,
		"fed-leader": (*stage).leaderDies,
	})
	f.sideBySide(t, map[string]func(*stage){"fed-grow": (*stage).sizesWithoutUs})
	if testing.Short() {
		t.Log("only in `make test-full PARTS=e2e`: an adapter of others, kinds of Karmada, a restart of the hub, and what becomes of " +
			"sizes beside it, a silent member, a dead leader, others who size Pods, and without the policy")
		return
	}
	f.makeRoom(t, "fed-evict", "fed-refused", "fed-bypassed", "fed-two")
	f.sideBySide(t, map[string]func(*stage){
		"fed-pair":    (*stage).pairNeverRunsAway,
		"fed-vpa":     (*stage).memberHasVPA,
		"fed-deleted": (*stage).policyIsDeleted,
	})
	f.makeRoom(t, "fed-pair", "fed-vpa", "fed-deleted")
	f.sideBySide(t, map[string]func(*stage){
		"fed-silent": (*stage).nothingShrinksUnseen,
		"fed-moves":  (*stage).leaderDiesMoving,
	})
	f.makeRoom(t, "fed-grow", "fed-silent", "fed-moves")
	f.sideBySide(t, map[string]func(*stage){"fed-away": (*stage).hubIsAway})
	f.makeRoom(t, "fed-away")
	f.sideBySide(t, map[string]func(*stage){"fed-foreign": (*stage).foreignAdapter})
	f.sideBySide(t, map[string]func(*stage){"fed-schema": (*stage).schemaOfOthers})
	f.sideBySide(t, map[string]func(*stage){"fed-restart": (*stage).hubRestarts})
	f.sideBySide(t, map[string]func(*stage){"fed-karmada": (*stage).placedByKarmada})
}

// sideBySide runs cases at the same time, each in the namespace of its name.
func (f *federated) sideBySide(t *testing.T, cases map[string]func(*stage)) {
	t.Helper()
	if t.Failed() {
		t.FailNow() // the fleet may be broken
	}
	var all sync.WaitGroup
	for namespace, play := range cases {
		all.Go(func() {
			t.Run(namespace, func(t *testing.T) {
				s := f.stage(t, namespace)
				t.Cleanup(s.explain)
				play(s)
			})
		})
	}
	all.Wait()
}
