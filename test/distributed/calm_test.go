// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	// quiet is for how many rounds nothing is written by a fleet at rest: longer than any window or interval.
	quiet = 100
	// patience is how many rounds a fleet may take to come to rest.
	patience = 1200
	// most is what the hub writes less than to each cluster until then, and however long it rests: property P3. A fleet of two counts as
	// one of three: what a storm leaves it may have to spill, to hold, to drain, to release and to follow, which takes 9.
	most, fewestClusters = 4, 3
)

// calm lets all be well and the load constant, for so many rounds at least. The fleet comes to rest, and stays so when the program
// begins again.
func (f *fleet) calm(restart, long int) {
	f.heal()
	if f.oneIn(2) {
		for _, m := range f.members {
			m.taint = ""
		}
	}
	f.slope, f.crash, f.hub.fails = 0, nil, false
	for _, m := range f.members {
		m.lags = false
	}
	f.judge.disturbed()
	f.judge.edited()
	f.judge.did("calm: %s", f)
	writes := func() int { return f.judge.hubWrites + f.judge.scaleWrites }
	if f.judge.restless() {
		f.run(quiet)
		return
	}
	began, doubted := f.judge.hubWrites, false
	for rounds, still := 0, 0; still < quiet || rounds < long; rounds++ {
		if len(f.judge.faults) > 0 {
			return
		}
		if rounds == restart && restart > 0 {
			f.restart()
		}
		before := writes()
		f.round()
		if still++; writes() > before {
			still = 0
		}
		doubted = doubted || f.judge.doubts() // a cluster of which nobody knows the room is retried, each time later
		if n := f.judge.hubWrites - began; n >= most*max(fewestClusters, len(f.members)) && !doubted {
			f.judge.fail("P3: the hub has written %d times to %d clusters under a constant load", n, len(f.members))
		}
		if rounds > patience {
			f.judge.fail("P3: something is written forever under a constant load")
			return
		}
	}
	f.judge.calmWrites += f.judge.hubWrites - began
	f.judge.rests()
	before, doubted := writes(), f.judge.doubts()
	f.restart()
	f.run(4)
	if writes() != before && !doubted {
		f.judge.fail("P4: something is written after a restart at rest")
	}
}

// release deletes the object.
func (f *fleet) release() {
	if len(f.judge.faults) > 0 {
		return
	}
	replicas := map[*member]int32{}
	for _, m := range f.members {
		replicas[m] = m.replicas()
	}
	o := f.hub.object
	o.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	orphan := o.Spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan
	for range 5 {
		f.sync()
		pass(period)
	}
	if f.hub.object != nil {
		f.judge.fail("the object cannot go: %v", f.hub.object.Finalizers)
	}
	for _, m := range f.members {
		switch {
		case m.ours() != nil:
			f.judge.fail("%s has an autoscaler of ours still", m.name)
		case orphan && len(m.stored()) == 0 && replicas[m] > 0 && m.selected:
			f.judge.did("%s has no autoscaler", m.name)
		case m.replicas() != replicas[m]:
			f.judge.fail("%s runs %d and ran %d before the object was deleted", m.name, m.replicas(), replicas[m])
		}
	}
}
