// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"
	"testing/synctest"
)

// outcome is what became of a fleet.
type outcome struct {
	fault  string // empty: nothing was wrong
	fired  map[string]bool
	rests  []string // how it was each time that it had come to rest
	rounds int
	writes int // of the hub under a constant load
}

// variant is how a scenario is run otherwise than usual.
type variant struct {
	plant   fault
	restart int  // the round of the first calm in which the program begins again; 0: none
	brief   bool // it ends with the first rest
	long    int  // for how many rounds each calm lasts at least
}

// scenario lets one fleet live.
func scenario(t *testing.T, seed uint64, v variant) (o outcome) {
	synctest.Test(t, func(*testing.T) {
		f := newFleet(seed)
		f.plant = v.plant
		f.draw()
		f.begin()
		defer f.end()
		f.judge.did("%s", f.spec())
		f.live(v)
		o = outcome{fired: f.judge.fired, rests: f.judge.rested, rounds: f.rounds, writes: f.judge.calmWrites}
		if len(f.judge.faults) > 0 {
			o.fault = f.judge.faults[0]
		}
	})
	return o
}

// live is the life of a fleet: storms, and calms in which it comes to rest.
func (f *fleet) live(v variant) {
	f.run(f.between(20, 60))
	for range 2 {
		for range f.between(4, 8) {
			f.run(f.happens())
		}
		f.calm(v.restart, v.long)
		if v.brief {
			return
		}
	}
	f.release()
}

// run lets rounds pass, until something is wrong.
func (f *fleet) run(rounds int) {
	for range rounds {
		if len(f.judge.faults) == 0 {
			f.round()
		}
	}
}
