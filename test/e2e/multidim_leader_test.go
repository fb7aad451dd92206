// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// leaderDiesMoving: the leader dies while Pods of one workload are evicted one after another, and those of another one have a resize
// under way. The next leader evicts nothing before it has seen for a minute that replicas stay. Then it continues: no Pod is moved
// twice, and as many are Ready as ever.
func (s *stage) leaderDiesMoving() {
	const many, late = 8, 5 * time.Second // what was sent before the leader died may be seen so late
	s.uses(map[string]string{sizesNewPods: muchCPU})
	s.apply(sizesNewPods, sized("web", many, waitsForRoom, smallResources))
	s.apply(sizesNewPods, sized("slow", 3, "lab.fleetscale.io/resize: InProgress", smallResources))
	first, slow := s.running(sizesNewPods, many), s.runningOf("slow", sizesNewPods, 3)
	moved, resized := s.watchLives("web", sizesNewPods), s.watchLives("slow", sizesNewPods)
	s.size("clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate}")
	s.sizeOf("slow", "clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate}")
	eventually(s.t, s.ns+": some are evicted", func(context.Context) error {
		if ended := moved.ended(s.t); len(ended) < 2 {
			return fmt.Errorf("%d are", len(ended))
		}
		return nil
	})
	if err := s.leader(s.t).Kill(); err != nil {
		s.t.Fatal(err)
	}
	killed := time.Now()
	if before := moved.ended(s.t); len(before) > many-2 {
		s.t.Fatalf("%d of %d were evicted before the leader was dead", len(before), many)
	}
	eventually(s.t, s.ns+": the next one continues", func(context.Context) error {
		if last := s.lastEnd(moved); last.Before(killed.Add(late)) {
			return fmt.Errorf("the last eviction was at %v, and the leader died at %v", last, killed)
		}
		return nil
	})
	s.restartAll(s.t)
	s.becomes("all have their size", isSized(v1alpha1.MultidimActive, fmt.Sprintf("%[1]d/%[1]d", many)),
		states("VerticalActuation=True/Actuating"))
	s.bornSized(sizesNewPods, first, many)

	all, least := moved.told(s.t)
	if len(all) != 2*many || least < many-many/4 {
		s.t.Errorf("there were %d Pods, and %d or more were Ready; want %d and %d", len(all), least, 2*many, many-many/4)
	}
	for _, of := range all {
		if after := of.ended.Sub(killed); !of.ended.IsZero() && (of.sizedBy != "" || after > late && after < time.Minute) {
			s.t.Errorf("%s, sized by %q, was evicted %v after the leader died", of.name, of.sizedBy, after)
		}
	}
	s.resizedOnce(resized)
	for _, pod := range slow {
		if _, err := s.resource(sizesNewPods, "v1", "Pod").Patch(s.t.Context(), pod.Name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"lab.fleetscale.io/resize":null}}}`), metav1.PatchOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.becomesOf("slow", "the resizes are done", isSized(v1alpha1.MultidimActive, "3/3"), hasEvicted(nil))
	s.resizedOnce(resized)
}

// lastEnd is when a Pod was told to end last.
func (s *stage) lastEnd(l *lives) time.Time {
	s.t.Helper()
	last := time.Time{}
	for _, of := range l.ended(s.t) {
		if of.ended.After(last) {
			last = of.ended
		}
	}
	return last
}

// resizedOnce wants each of these Pods to have been written by one resize, and none to have ended.
func (s *stage) resizedOnce(l *lives) {
	s.t.Helper()
	all, _ := l.told(s.t)
	slices.SortFunc(all, func(a, b life) int { return strings.Compare(a.name, b.name) })
	for _, of := range all {
		if len(of.cpu) != 2 || of.generation != 2 || !of.ended.IsZero() {
			s.t.Errorf("%s requested %v, in generation %d, and ended at %v; want one resize", of.name, of.cpu, of.generation, of.ended)
		}
	}
}
