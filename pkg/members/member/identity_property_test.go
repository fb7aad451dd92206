// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// society is a registry whose registrations come, go and tell at a test's word. Nobody is asked for anything.
type society struct {
	*Registry

	t       *testing.T
	ended   context.Context
	history []string
	// leads is the cluster that each registration leads to, and led all that it led to since it was registered: a cluster may tell
	// the uid of another, but not show its authority.
	leads map[registration.Key]types.UID
	led   map[registration.Key]map[types.UID]bool
}

func newSociety(t *testing.T) *society {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := &society{
		Registry: New(Options{}), t: t, ended: ended,
		leads: map[registration.Key]types.UID{}, led: map[registration.Key]map[types.UID]bool{},
	}
	s.knows = func(string) bool { return true }
	return s
}

func (s *society) register(k registration.Key, name string, faults ...registration.Fault) {
	s.registerAs(k, registration.Registration{Name: name, Faults: faults})
}

func (s *society) registerAs(k registration.Key, reg registration.Registration) {
	s.history = append(s.history, fmt.Sprintf("%s registered as %s, the same as %q, faults %v", k.String(), reg.Name, reg.SameAs, reg.Faults))
	reg.Awaiting = "nothing, in truth"
	reg.Ref.Kind, reg.Ref.Name = k.Source, k.Object
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(s.ended, k, &reg)
}

func (s *society) deregister(k registration.Key) {
	s.history = append(s.history, k.String()+" deregistered")
	delete(s.leads, k)
	delete(s.led, k)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(s.ended, k, nil)
}

// lead has a registration lead to a cluster from now on.
func (s *society) lead(k registration.Key, cluster types.UID) {
	s.history = append(s.history, fmt.Sprintf("%s leads to %s", k.String(), cluster))
	if s.leads[k] = cluster; s.led[k] == nil {
		s.led[k] = map[types.UID]bool{}
	}
	s.led[k][cluster] = true
}

// contact files what a probe of the cluster found: a uid, or that it does not answer.
func (s *society) contact(k registration.Key, uid types.UID) {
	e := s.entries[k]
	if e == nil || e.reg.Refused() {
		return
	}
	s.history = append(s.history, fmt.Sprintf("%s tells %q", k.String(), uid))
	var shown proof
	if cluster := s.leads[k]; cluster != "" {
		shown = proof{Authority: "authority of " + string(cluster), Way: "way to " + string(cluster)}
	}
	s.hear(k, uid, shown)
}

// hear files what was told, and shown.
func (s *society) hear(k registration.Key, uid types.UID, shown proof) {
	for range 2 { // who has moved is contacted again
		f := finding{generation: s.entries[k].generation, uid: uid, proof: shown}
		if uid == "" {
			f.silence = fleet.Silencef(fleet.ReasonTimeout, "no answer")
		}
		s.conclude(s.t.Context(), s.entries[k], f)
		if !s.entries[k].moved && !s.disestablished {
			return
		}
		s.mu.Lock()
		reg := s.regs[k]
		moved := s.entries[k].moved
		s.place(s.ended, k, &reg)
		s.mu.Unlock()
		if !moved {
			return
		}
	}
}

func (s *society) summary() string { return summary(s.Members()) }

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
	switch n := random.IntN(12); {
	case !registered || n == 0:
		reg := registration.Registration{Name: k.Object, Faults: choose(random, societyFaults)}
		if random.IntN(3) == 0 {
			reg.Name = choose(random, societyNames)
		}
		if random.IntN(6) == 0 {
			reg.SameAs = choose(random, societyNames)
		}
		s.registerAs(k, reg)
		if s.leads[k] == "" || random.IntN(2) == 0 {
			s.lead(k, choose(random, societyUIDs))
		}
	case n == 1:
		s.deregister(k)
	case n == 2:
		s.contact(k, "")
	case n < 6: // it lies
		s.contact(k, choose(random, societyUIDs))
	default:
		s.contact(k, s.leads[k])
	}
	return k
}

// restart has another program take the place of this one: it has the registrations, and what is recorded.
func (s *society) restart(random *rand.Rand) *society {
	next := newSociety(s.t)
	next.history = append(slices.Clone(s.history), "restarted")
	next.leads, next.led = s.leads, s.led
	recorded := decode(s.established.encode(nil))
	if random.IntN(2) == 0 {
		next.recall(recorded)
	}
	for _, i := range random.Perm(len(societyKeys)) {
		if reg, registered := s.regs[societyKeys[i]]; registered {
			next.registerAs(societyKeys[i], reg)
		}
	}
	next.recall(recorded)
	for _, i := range random.Perm(len(societyKeys)) {
		k := societyKeys[i]
		if e := s.entries[k]; e != nil && e.health.contacted {
			if !e.reg.Refused() {
				next.history = append(next.history, fmt.Sprintf("%s tells %q again: %v", k.String(), e.uid, e.health.ready))
				next.hear(k, map[bool]types.UID{true: e.uid}[e.health.ready], e.proof)
			}
		}
	}
	next.settled = true
	next.start()
	return next
}

// recall has the registry read what was recorded.
func (s *society) recall(recorded records) {
	data := map[string]any{}
	for uid, text := range recorded.encode(nil) {
		data[uid] = text
	}
	s.ledgerRead(s.ended, &unstructured.Unstructured{Object: map[string]any{"data": data}})
}

// Whatever happens to one registration, each other one that is Ready stays so,
// and one that was ever Ready is listed until it is taken away, or leads to a
// cluster that is listed under another name. A restart changes nothing of that.
func TestNobodyVanishesByWhatAnotherSays(t *testing.T) {
	const steps = 80
	for seed := range fleettest.Rounds(400, 20) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := newSociety(t)
		for range random.IntN(20) { // before the start is over
			s.step(random)
		}
		s.history = append(s.history, "settled")
		s.settled = true
		wasReady := s.ready()
		for range steps {
			if random.IntN(20) == 0 {
				s = s.restart(random)
			}
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
				if !s.lists(known) && !s.listsElsewhere(known) {
					s.fail("seed %d: %v was Ready and is not listed", seed, known)
				}
			}
			s.check(seed)
		}
	}
}

// listsElsewhere is true when the cluster that the registration leads to, or one that it yields to, is listed by another.
func (s *society) listsElsewhere(k registration.Key) bool {
	for other, e := range s.entries {
		sameCluster := s.led[other][s.leads[k]] || s.regs[k].SameAs == e.member.name || s.regs[other].SameAs == s.entries[k].member.name
		if other != k && s.lists(other) && sameCluster {
			return true
		}
	}
	return false
}

func (s *society) checkOthers(changed registration.Key, before map[registration.Key]*Member) {
	s.t.Helper()
	now := s.ready()
	for k, m := range before {
		yields := s.regs[k].SameAs != "" && s.entries[changed] != nil && s.regs[k].SameAs == s.entries[changed].member.name
		if k != changed && now[k] != m && !yields {
			s.fail("%v is no longer Ready, because of %v", k, changed)
		}
	}
}

// A program that starts with what another has recorded, and hears of the same clusters, comes to the same.
func TestRestartsAndReplicasAgree(t *testing.T) {
	for seed := range fleettest.Rounds(400, 10) {
		random := rand.New(rand.NewPCG(seed, 2))
		s := newSociety(t)
		s.settled = true
		for range random.IntN(60) {
			s.step(random)
		}
		for _, other := range []*society{s.restart(random), s.restart(random)} {
			if diff := cmp.Diff(s.established, other.established, cmp.AllowUnexported(holder{})); diff != "" {
				other.fail("seed %d: established (-one +other):\n%s", seed, diff)
			}
			for k := range s.ready() {
				if other.ready()[k] == nil {
					other.fail("seed %d: %v is Ready in one program only", seed, k)
				}
			}
			for k, e := range other.entries {
				_, was := s.established.byRegistration()[keyText(k)]
				if joining := e.member.Joining(); joining == was {
					other.fail("seed %d: %v was Ready: %v, and is joining: %v", seed, k, was, joining)
				}
			}
		}
	}
}

// check holds the registry to what is always so.
func (s *society) check(seed uint64) {
	s.t.Helper()
	if len(s.established) > len(s.regs) {
		s.fail("seed %d: %d are established of %d registrations", seed, len(s.established), len(s.regs))
	}
	is := s.established.byRegistration()
	if len(is) != len(s.established) {
		s.fail("seed %d: one registration is established twice: %v", seed, s.established)
	}
	for k, e := range s.entries {
		_, taken := s.established[e.uid]
		switch reason := e.shown.silence.Reason; {
		case e.shown.ready && s.established[e.uid].Registration != keyText(k):
			s.fail("seed %d: %v is Ready as %s, and established as that is %v", seed, k, e.uid, s.established[e.uid])
		case reason == reasonIdentityConflict && !taken && !s.isUsed(e.uid, k):
			s.fail("seed %d: %v is refused %s, which nobody else has", seed, k, e.uid)
		case reason == reasonDuplicate && !s.isUsed(e.uid, k) && !e.reg.Withdrawn() && !taken:
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
	for seed := range fleettest.Rounds(200, 10) {
		random := rand.New(rand.NewPCG(seed, 1))
		uids := map[registration.Key]types.UID{}
		for _, k := range societyKeys {
			uids[k] = choose(random, societyUIDs)
		}
		var replicas []string
		for range 2 {
			s := newSociety(t)
			for _, i := range random.Perm(len(societyKeys)) {
				s.register(societyKeys[i], societyKeys[i].Object)
				s.lead(societyKeys[i], uids[societyKeys[i]])
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
		s.hub.tried, s.ledger.read = true, true
		s.awaited = func() []string { return awaited }
		s.register(k, k.Object)
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
