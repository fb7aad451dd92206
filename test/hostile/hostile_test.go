// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"testing"
	"time"
)

// TestAdversaries sets the stage once, for one adversary after the other. A member that has attacked is quarantined for some time after
// it, so that others do not wait until it is heard again.
func TestAdversaries(t *testing.T) {
	s := newScene(t)
	s.settled(t)
	if testing.Short() {
		t.Run("all at once", func(t *testing.T) {
			s.under(t, 12*time.Second, func() func() {
				return together(s.worst(), s.tenant(t), s.registrar(t))
			})
		})
		return
	}
	for i, a := range s.attacks {
		for _, everything := range []bool{false, true} {
			name := a.Name
			if everything {
				name += ", to all that is asked"
			}
			t.Run("member/"+name, func(t *testing.T) {
				s.under(t, 15*time.Second, func() func() {
					s.evil[i].Attack(a, everything)
					return s.evil[i].Behave
				})
			})
		}
	}
	for _, a := range []struct {
		name   string
		harass func(*testing.T) (end func())
	}{
		{"members together", func(*testing.T) func() { return s.allOfThem() }},
		{"tenant", s.tenant},
		{"registrar", s.registrar},
	} {
		t.Run(a.name, func(t *testing.T) {
			s.under(t, time.Minute, func() func() { return a.harass(t) })
		})
		t.Run(a.name+"/on and off", func(t *testing.T) {
			s.turns(t, func() func() { return a.harass(t) })
		})
	}
	t.Run("registrar/others scale in", s.scalesIn)
	s.compare(t)
}

// together ends all of them.
func together(ends ...func()) func() {
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// worst has one member begin each of the worst attacks.
func (s *scene) worst() (end func()) {
	var ends []func()
	for i, a := range s.attacks {
		if a.Worst {
			s.evil[i].Attack(a, false)
			ends = append(ends, s.evil[i].Behave)
		}
	}
	return together(ends...)
}

// allOfThem has one member begin each attack.
func (s *scene) allOfThem() (end func()) {
	var ends []func()
	for i, a := range s.attacks {
		s.evil[i].Attack(a, false)
		ends = append(ends, s.evil[i].Behave)
	}
	return together(ends...)
}
