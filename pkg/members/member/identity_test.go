// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// settles waits until all that was registered at the start is known, as the programs do before they serve.
func (r *running) settles() {
	r.t.Helper()
	memberstest.Eventually(r.t, "settled", func() string { return orSettled(r.Settled()) })
}

// registered is every registration with its reason, the duplicates too.
func (r *running) registered() string {
	reasons := map[string]string{}
	all, _ := r.snapshot()
	for _, l := range all {
		reasons[l.registration] = string(l.member.State().Reason)
	}
	return fmt.Sprint(reasons) // in the order of the keys
}

func (r *running) probedAgain(m *fakeMember) {
	r.t.Helper()
	before := m.probes.Load()
	memberstest.Eventually(r.t, "probed again", func() string {
		if m.probes.Load() > before+2 {
			return "probed again"
		}
		return ""
	})
}

func TestClusterThatTakesAnothersIdentityIsSilent(t *testing.T) {
	t.Parallel()
	hub, dev, prod := memberstest.NewHub(t), newFakeMember(t, "uid-of-dev"), newFakeMember(t, "uid-of-prod")
	hub.Put(t, dev.secret(t, "dev"))
	hub.Put(t, prod.secret(t, "prod"))
	events := record.NewFakeRecorder(100)
	r := start(t, hub, func(o *Options) { o.Recorder = events })
	r.becomes("dev=Ready prod=Ready")
	r.settles()
	honest := r.member("prod")

	dev.set(func() { dev.uid = "uid-of-prod" })
	r.becomes("dev=IdentityConflict prod=Ready")
	r.probedAgain(dev)
	r.becomes("dev=IdentityConflict prod=Ready")
	want := "the cluster was uid-of-dev and now tells the uid uid-of-prod of kube-system, " +
		"which belongs to Secret fleet/prod, listed as prod; if both lead to one cluster, remove one of the registrations, or give the one " +
		"that is to yield the annotation fleetscale.io/same-as with the name of the other; otherwise find out why this one tells the identity " +
		"of another"
	if got := r.member("dev").State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	if got := <-events.Events; got != "Warning IdentityConflict "+want {
		t.Errorf("event = %q", got)
	}
	if !strings.Contains(r.log(), `reason="IdentityConflict"`) {
		t.Errorf("the log does not say so:\n%s", r.log())
	}
	for _, client := range []func() (string, error){
		func() (string, error) { return ask(t.Context(), r.member("dev")) },
		func() (string, error) {
			body, err := r.member("dev").WatchClient().Get().AbsPath(streamPath).DoRaw(t.Context())
			return string(body), err
		},
	} {
		if body, err := client(); reasonOf(err) != reasonIdentityConflict {
			t.Errorf("asking it: %q, %v; want IdentityConflict", body, err)
		}
	}
	if r.member("prod") != honest {
		t.Error("what dev says made prod another member")
	}
	r.asks("prod", "uid-of-prod")

	dev.set(func() { dev.uid = "uid-of-dev" })
	r.becomes("dev=Ready prod=Ready")
	r.asks("dev", "uid-of-dev")
}

// Nobody is believed who has not been asked.
func TestDeclaredIdentityTakesNothing(t *testing.T) {
	t.Parallel()
	hub, prod, liar := memberstest.NewHub(t), newFakeMember(t, "uid-of-prod"), newFakeMember(t, "uid-of-prod")
	liar.freeze()
	hub.Karmada = true
	hub.Put(t, prod.karmadaSecret("prod"))
	hub.Put(t, karmadaObject(prod, "prod"))
	r := start(t, hub, impatiently)
	r.becomes("prod=Ready")
	r.settles()
	hub.Put(t, liar.karmadaSecret("aaa"))
	hub.Put(t, karmadaObject(liar, "aaa", func(spec map[string]any) { spec["id"] = "uid-of-prod" }))
	r.becomes("aaa=Timeout prod=Ready")
	r.asks("prod", "uid-of-prod")
}

func TestSecondRegistrationTakesNothing(t *testing.T) {
	tests := map[string]struct {
		second string // the Secret that comes later
		want   string
	}{
		"one that would come first":  {"alpha", "map[karmada.prod:Ready secret.alpha:Duplicate]"},
		"one that asks for its name": {"prod", "map[karmada.prod:Ready secret.prod:Duplicate]"},
		"one that would come later":  {"zulu", "map[karmada.prod:Ready secret.zulu:Duplicate]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, prod := memberstest.NewHub(t), newFakeMember(t, "1")
			hub.Karmada = true
			hub.Put(t, prod.karmadaSecret("prod"))
			hub.Put(t, karmadaObject(prod, "prod"))
			r := start(t, hub)
			r.becomes("prod=Ready")
			r.settles()
			m := r.member("prod")
			hub.Put(t, prod.secret(t, tc.second))
			memberstest.Eventually(t, tc.want, r.registered)
			r.becomes("prod=Ready")
			if r.member("prod") != m {
				t.Error("the second registration made prod another member")
			}
			hub.Remove(memberstest.ClustersPath, "prod")
			r.becomes(tc.second + "=Ready")
			r.asks(tc.second, "1")
		})
	}
}

// A name that is in use is not taken by whoever would come first.
func TestNameInUseIsKept(t *testing.T) {
	t.Parallel()
	hub, prod, other := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Put(t, prod.karmadaSecret("prod"))
	hub.Put(t, karmadaObject(prod, "prod"))
	r := start(t, hub)
	r.becomes("prod=Ready")
	r.settles()
	hub.Put(t, other.secret(t, "prod"))
	r.becomes("prod=Ready secret.prod=NameConflict")
	r.asks("prod", "1")
}

// However long the first is away or broken, its cluster is not given to another.
func TestIdentityIsKeptWhileSilent(t *testing.T) {
	t.Parallel()
	hub, prod, spare := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "1")
	hub.Put(t, prod.secret(t, "prod"))
	r := start(t, hub)
	r.becomes("prod=Ready")
	r.settles()
	hub.Put(t, spare.secret(t, "alpha"))
	memberstest.Eventually(t, "map[secret.alpha:Duplicate secret.prod:Ready]", r.registered)

	prod.set(func() { prod.code = 503 })
	r.becomes("prod=ServerError")
	r.probedAgain(spare)
	r.becomes("prod=ServerError")
	hub.Put(t, prod.secret(t, "prod", func(s *corev1.Secret) { s.Data = nil }))
	r.becomes("prod=InvalidKubeconfig")
	r.probedAgain(spare)
	r.becomes("prod=InvalidKubeconfig")
	prod.set(func() { prod.code = 0 })
	hub.Put(t, prod.secret(t, "prod"))
	r.becomes("prod=Ready")
	hub.Remove(memberstest.FleetSecretsPath, "prod")
	r.becomes("alpha=Ready")
}

// Who is given another cluster frees the one that he had: for its spares, and for whoever waits for it.
func TestIdentityIsFreedByMoving(t *testing.T) {
	t.Parallel()
	hub, first, second, third := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2"), newFakeMember(t, "3")
	hub.Put(t, first.secret(t, "a"))
	hub.Put(t, second.secret(t, "b"))
	r := start(t, hub)
	r.becomes("a=Ready b=Ready")
	r.settles()
	hub.Put(t, first.secret(t, "spare"))
	memberstest.Eventually(t, "map[secret.a:Ready secret.b:Ready secret.spare:Duplicate]", r.registered)
	second.set(func() { second.uid = "1" })
	r.becomes("a=Ready b=IdentityConflict")

	hub.Put(t, third.secret(t, "a"))
	r.becomes("a=Ready b=IdentityConflict spare=Ready")
	r.asks("a", "3")
	r.asks("spare", "1")
	hub.Remove(memberstest.FleetSecretsPath, "spare")
	r.becomes("a=Ready b=Ready")
	r.asks("b", "1")
}

// At the start nobody was there before, so the order of the names decides, not who answers first.
func TestOrderDecidesAtTheStart(t *testing.T) {
	t.Parallel()
	hub, slow, quick := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "1")
	slow.freeze()
	hub.Put(t, slow.secret(t, "alpha"))
	hub.Put(t, quick.secret(t, "zulu"))
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = 20 * time.Second })
	r.becomes("alpha=NotContacted zulu=Ready")
	slow.thaw()
	r.becomes("alpha=Ready")
	r.settles()
	r.becomes("alpha=Ready")
}

// A registration that is changed to lead where another one leads is a spare, and leaves its former cluster to others.
func TestSecondWayToAClusterIsASpare(t *testing.T) {
	t.Parallel()
	hub, first, second := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Put(t, first.secret(t, "a"))
	hub.Put(t, second.secret(t, "b"))
	r := start(t, hub)
	r.becomes("a=Ready b=Ready")
	r.settles()
	hub.Put(t, first.secret(t, "b"))
	memberstest.Eventually(t, "map[secret.a:Ready secret.b:Duplicate]", r.registered)
	hub.Put(t, second.secret(t, "c"))
	r.becomes("a=Ready c=Ready")
}

func TestSwappedRegistrationsFollow(t *testing.T) {
	t.Parallel()
	hub, first, second := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Put(t, first.secret(t, "a"))
	hub.Put(t, second.secret(t, "b"))
	r := start(t, hub)
	r.becomes("a=Ready b=Ready")
	r.settles()
	hub.Put(t, second.secret(t, "a"))
	memberstest.Eventually(t, "map[secret.a:Duplicate secret.b:Ready]", r.registered)
	hub.Put(t, first.secret(t, "b"))
	r.becomes("a=Ready b=Ready")
	r.asks("a", "2")
	r.asks("b", "1")
}

// Where nothing else proves that two lead to one cluster, the registration that yields says so.
func TestRegistrationYieldsToTheOneThatItNames(t *testing.T) {
	t.Parallel()
	hub, old, other, now := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2"), newFakeMember(t, "1")
	hub.Put(t, old.secret(t, "old"))
	hub.Put(t, other.secret(t, "other"))
	r := start(t, hub)
	r.becomes("old=Ready other=Ready")
	r.settles()
	hub.Put(t, now.secret(t, "now"))
	r.becomes("now=IdentityConflict old=Ready other=Ready")
	hub.Put(t, now.secret(t, "now", registrationtest.Annotated(registration.SameAsAnnotation, "old")))
	memberstest.Eventually(t, "map[secret.now:Duplicate secret.old:Ready secret.other:Ready]", r.registered)
	hub.Put(t, now.secret(t, "now"))
	hub.Put(t, old.secret(t, "old", registrationtest.Annotated(registration.SameAsAnnotation, "now")))
	memberstest.Eventually(t, "map[secret.now:Ready secret.old:Duplicate secret.other:Ready]", r.registered)
}

// The hub can be told by anybody, too. Whoever takes its identity is no hub.
func TestClusterThatTakesTheHubsIdentityIsSilent(t *testing.T) {
	t.Parallel()
	hub, self, dev := memberstest.NewHub(t), newFakeMember(t, "hub-uid"), newFakeMember(t, "uid-of-dev")
	hub.Put(t, self.secret(t, "self"))
	hub.Put(t, dev.secret(t, "dev"))
	r := start(t, hub, func(o *Options) { o.Registrations.Access = registration.Read })
	r.becomes("dev=Ready self=HubMetricsServerUnset")
	r.settles()
	dev.set(func() { dev.uid = "hub-uid" })
	r.becomes("dev=IdentityConflict self=HubMetricsServerUnset")
	if r.member("dev").IsHub() || !r.member("self").IsHub() {
		t.Errorf("IsHub() of dev is %v, of self %v", r.member("dev").IsHub(), r.member("self").IsHub())
	}
}
