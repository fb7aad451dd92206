// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// society is a registry whose registrations come, go and tell at a test's word. Nobody is asked for anything.
type society struct {
	*Registry

	t       *testing.T
	ended   context.Context
	history []string
}

func newSociety(t *testing.T) *society {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	return &society{Registry: New(Options{}), t: t, ended: ended}
}

func (s *society) register(k registration.Key, name string, id types.UID, faults ...registration.Fault) {
	s.history = append(s.history, fmt.Sprintf("%s registered as %s, declared %q, faults %v", k.String(), name, id, faults))
	reg := &registration.Registration{Name: name, DeclaredID: id, Faults: faults, Awaiting: "nothing, in truth"}
	reg.Ref.Kind, reg.Ref.Name = k.Source, k.Object
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(s.ended, k, reg)
}

func (s *society) deregister(k registration.Key) {
	s.history = append(s.history, k.String()+" deregistered")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(s.ended, k, nil)
}

// contact files what a probe of the cluster found: a uid, or that it does not answer.
func (s *society) contact(k registration.Key, uid types.UID) {
	e := s.entries[k]
	if e == nil || e.reg.Refused() {
		return
	}
	s.history = append(s.history, fmt.Sprintf("%s tells %q", k.String(), uid))
	for range 2 { // who has moved is contacted again
		f := finding{generation: s.entries[k].generation, uid: uid}
		if uid == "" {
			f.silence = fleet.Silencef(fleet.ReasonTimeout, "no answer")
		}
		s.conclude(s.t.Context(), s.entries[k], f)
		if !s.entries[k].moved {
			return
		}
		s.mu.Lock()
		reg := s.regs[k]
		s.place(s.ended, k, &reg)
		s.mu.Unlock()
	}
}

func (s *society) summary() string {
	var words []string
	for _, m := range s.Members() {
		words = append(words, m.Name()+"="+string(m.State().Reason))
	}
	return strings.Join(words, " ")
}

func (s *society) lists(k registration.Key) bool {
	return slices.Contains(s.Members(), s.entries[k].member)
}

func (s *society) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s\nnow: %s", fmt.Sprintf(format, args...), strings.Join(s.history, "\n"), s.summary())
}

// ready are the members that can be asked.
func (s *society) ready() map[registration.Key]*Member {
	ready := map[registration.Key]*Member{}
	for k, e := range s.entries {
		if e.shown.ready {
			ready[k] = e.member
		}
	}
	return ready
}

var societyKeys = []registration.Key{
	fromSecret("a"), fromSecret("b"), fromSecret("c"), fromKarmada("a"), fromKarmada("b"), fromKarmada("d"),
}

var (
	societyUIDs   = []types.UID{"1", "2", "3", "4"}
	societyNames  = []string{"a", "b", "d"}
	societyFaults = [][]registration.Fault{nil, nil, nil, {{Reason: "ExecNotAllowed", Message: "no"}}, {{Reason: "PullMode", Message: "no"}}}
)

func choose[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// step lets something happen to one registration.
func (s *society) step(random *rand.Rand) registration.Key {
	k := choose(random, societyKeys)
	_, registered := s.regs[k]
	switch n := random.IntN(10); {
	case !registered || n == 0:
		name := k.Object
		if random.IntN(3) == 0 {
			name = choose(random, societyNames)
		}
		s.register(k, name, choose(random, societyUIDs), choose(random, societyFaults)...)
	case n == 1:
		s.deregister(k)
	case n == 2:
		s.contact(k, "")
	default:
		s.contact(k, choose(random, societyUIDs))
	}
	return k
}

// Whatever happens to one registration, each other one that is Ready stays so,
// and one that was ever Ready is listed until it is taken away.
func TestNobodyVanishesByWhatAnotherSays(t *testing.T) {
	const runs, steps = 300, 80
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := newSociety(t)
		for range random.IntN(20) { // before the start is over
			s.step(random)
		}
		s.history = append(s.history, "settled")
		s.settled = true
		wasReady := s.ready()
		for range steps {
			before := s.ready()
			k := s.step(random)
			s.checkOthers(k, before)
			for known, m := range s.ready() {
				wasReady[known] = m
			}
			if reg, registered := s.regs[k]; !registered || reg.Withdrawn() {
				delete(wasReady, k)
			}
			for known := range wasReady {
				if !s.lists(known) {
					s.fail("seed %d: %v was Ready and is not listed", seed, known)
				}
			}
			s.check(seed)
		}
	}
}

func (s *society) checkOthers(changed registration.Key, before map[registration.Key]*Member) {
	s.t.Helper()
	now := s.ready()
	for k, m := range before {
		if k != changed && now[k] != m {
			s.fail("%v is no longer Ready, because of %v", k, changed)
		}
	}
}

// check holds the registry to what is always so.
func (s *society) check(seed uint64) {
	s.t.Helper()
	if len(s.identities) > len(s.regs) {
		s.fail("seed %d: %d identities of %d registrations", seed, len(s.identities), len(s.regs))
	}
	holders := map[types.UID]registration.Key{}
	for k, held := range s.identities {
		if other, twice := holders[held.uid]; twice {
			s.fail("seed %d: %v and %v are both established as %s", seed, k, other, held.uid)
		}
		holders[held.uid] = k
	}
	for k, e := range s.entries {
		switch reason := e.shown.silence.Reason; {
		case e.shown.ready && s.identities[k].uid != e.uid:
			s.fail("seed %d: %v is Ready as %s, and established as %q", seed, k, e.uid, s.identities[k].uid)
		case reason == reasonIdentityConflict && (holders[e.uid] == (registration.Key{}) && !s.isUsed(e.uid, k)):
			s.fail("seed %d: %v is refused %s, which nobody else has", seed, k, e.uid)
		case reason == reasonDuplicate && !s.isUsed(e.uid, k) && !e.reg.Withdrawn() && holders[e.uid] == (registration.Key{}):
			s.fail("seed %d: %v is a duplicate of nobody", seed, k)
		case s.lists(k) != (reason != reasonDuplicate):
			s.fail("seed %d: %v with reason %q: listed is %v", seed, k, reason, s.lists(k))
		}
	}
	before := s.summary()
	s.mu.Lock()
	s.publish()
	s.mu.Unlock()
	if s.summary() != before {
		s.fail("seed %d: without any cause %q became", seed, before)
	}
}

// isUsed is true when another registration that is listed tells the uid.
func (s *society) isUsed(uid types.UID, but registration.Key) bool {
	for k, e := range s.entries {
		if k != but && e.uid == uid && s.lists(k) {
			return true
		}
	}
	return false
}

// Replicas that start hear of the clusters in different orders, and come to the same.
func TestOrderOfContactDoesNotMatterAtTheStart(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		uids := map[registration.Key]types.UID{}
		for _, k := range societyKeys {
			uids[k] = choose(random, societyUIDs)
		}
		var replicas []string
		for range 2 {
			s := newSociety(t)
			for _, i := range random.Perm(len(societyKeys)) {
				s.register(societyKeys[i], societyKeys[i].Object, "")
			}
			for _, i := range random.Perm(len(societyKeys)) {
				s.contact(societyKeys[i], uids[societyKeys[i]])
			}
			s.settled = true
			s.contact(societyKeys[0], uids[societyKeys[0]])
			replicas = append(replicas, s.summary())
		}
		if replicas[0] != replicas[1] {
			t.Fatalf("seed %d: with the uids %v one replica has %q, the other %q", seed, uids, replicas[0], replicas[1])
		}
	}
}

// The start is over when nothing is awaited any more, whether or not anybody asks.
func TestStartEnds(t *testing.T) {
	k := societyKeys[0]
	start := func(awaited ...string) *society {
		s := newSociety(t)
		s.hub.tried = true
		s.awaited = func() []string { return awaited }
		s.register(k, k.Object, "")
		return s
	}
	tests := map[string]func() *society{
		"with the last first contact": func() *society {
			s := start()
			if s.settled {
				t.Error("it is over before the first contact")
			}
			s.contact(k, "1")
			return s
		},
		"with the last source": func() *society {
			s := start("Karmada's Clusters")
			s.contact(k, "1")
			if s.settled {
				t.Error("it is over before Karmada's Clusters were read")
			}
			s.awaited = func() []string { return nil }
			s.sourceRead()
			return s
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			if s := run(); !s.settled {
				t.Error("it is not over")
			}
		})
	}
}
