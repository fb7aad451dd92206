// SPDX-License-Identifier: Apache-2.0

package member

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// recorded is what the hub has, as "uid=registration".
func recorded(hub *memberstest.Hub) func() string {
	return func() string {
		object := hub.Get(memberstest.ConfigMapsPath, IdentitiesName)
		if object == nil {
			return "nothing"
		}
		data, _, _ := unstructured.NestedStringMap(object.Object, "data")
		known := decode(data)
		var words []string
		for _, uid := range slices.Sorted(maps.Keys(known)) {
			words = append(words, string(uid)+"="+known[uid].Registration)
		}
		return strings.Join(words, " ")
	}
}

// joining are those that count for nothing yet.
func (r *running) joining() string {
	var names []string
	for _, m := range r.Members() {
		if m.Joining() {
			names = append(names, m.Name())
		}
	}
	return strings.Join(names, " ")
}

// recording is a registry that also records.
func recording(t *testing.T, hub *memberstest.Hub, edits ...func(*Options)) (r *running, stop func()) {
	o := optionsOf(t, hub)
	o.ProbePeriod, o.DiscoveryPeriod = 40*time.Millisecond, 20*time.Millisecond
	for _, edit := range edits {
		edit(&o)
	}
	registry := New(o)
	ctx := memberstest.Logged(t)
	stopRegistry, stopRecord := memberstest.Run(ctx, t, registry.Run), memberstest.Run(ctx, t, registry.Record)
	return &running{Registry: registry, t: t}, func() { stopRegistry(); stopRecord() }
}

// A program that starts does not ask who was quicker, nor whose name comes first, where it is recorded who was.
func TestRestartKeepsWhoIsEstablished(t *testing.T) {
	t.Parallel()
	hub, prod, other, liar := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2"), newFakeMember(t, "1")
	hub.Put(t, prod.secret(t, "prod"))
	hub.Put(t, other.secret(t, "zulu"))
	leader, stop := recording(t, hub)
	leader.becomes("prod=Ready zulu=Ready")
	memberstest.Eventually(t, "1=secret/prod 2=secret/zulu", recorded(hub))
	hub.Put(t, liar.secret(t, "alpha"))
	leader.becomes("alpha=IdentityConflict prod=Ready zulu=Ready")
	memberstest.Eventually(t, "alpha", leader.joining)
	stop()

	prod.set(func() { prod.code = 503 })
	for range 2 {
		replica := start(t, hub)
		replica.becomes("alpha=IdentityConflict prod=ServerError zulu=Ready")
		replica.settles()
		replica.becomes("alpha=IdentityConflict prod=ServerError zulu=Ready")
		if got := replica.joining(); got != "alpha" {
			t.Errorf("joining are %q, want alpha: prod was Ready", got)
		}
	}
	next, _ := recording(t, hub)
	next.settles()
	hub.Remove(memberstest.FleetSecretsPath, "prod")
	next.becomes("alpha=Ready zulu=Ready")
	memberstest.Eventually(t, "1=secret/alpha 2=secret/zulu", recorded(hub))
	hub.Remove(memberstest.FleetSecretsPath, "alpha")
	memberstest.Eventually(t, "2=secret/zulu", recorded(hub))
	prod.set(func() { prod.code = 0 })
	hub.Put(t, prod.secret(t, "renamed"))
	next.becomes("renamed=Ready zulu=Ready")
	memberstest.Eventually(t, "1=secret/renamed 2=secret/zulu", recorded(hub))
}

// What is recorded goes before what a program has seen itself, also while it runs.
func TestRecordDecidesWhileRunning(t *testing.T) {
	t.Parallel()
	hub, a, b := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "1")
	b.code = 503
	hub.Put(t, a.secret(t, "a"))
	hub.Put(t, b.secret(t, "b"))
	r := start(t, hub)
	r.becomes("a=Ready b=ServerError")
	r.settles()
	hub.Put(t, identities(map[string]any{"1": `{"registration":"secret/b","name":"b"}`}))
	memberstest.Eventually(t, "map[secret.a:IdentityConflict secret.b:ServerError]", r.registered)
}

// Who is recorded by a source that is no longer read is gone, and what is recorded of it goes too.
func TestSourceThatIsOffHoldsNobody(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, identities(map[string]any{
		"1": `{"registration":"argocd/cluster-east","name":"argo"}`, "2": `{"registration":"argocd/cluster-west","name":"west"}`,
	}))
	hub.Put(t, east.secret(t, "east"))
	r, _ := recording(t, hub)
	r.becomes("east=Ready")
	memberstest.Eventually(t, "1=secret/east", recorded(hub))
}

// Secrets are never read in all namespaces.
func TestSourcesWithoutANamespaceAreRefused(t *testing.T) {
	for name, o := range map[string]registration.Options{
		"secret": {}, "argocd": {Sources: []string{"secret", "argocd"}, Namespace: "fleet"},
	} {
		err := New(Options{Registrations: o}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no namespace for the source "+name+":") {
			t.Errorf("without a namespace for %s: %v", name, err)
		}
	}
}

func identities(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "fleet", "name": IdentitiesName}, "data": data,
	}}
}

// Without a record that can be read the start ends all the same.
func TestUnreadableRecordIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	hub, a := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Forbidden[memberstest.ConfigMapsPath] = true
	hub.Put(t, a.secret(t, "a"))
	r := start(t, hub, impatiently)
	r.becomes("a=Ready")
	memberstest.Eventually(t, "waiting for the record of identities (Forbidden: no)", func() string { return orSettled(r.Settled()) })
	r.settles()
	if !strings.Contains(r.log(), "Could not read which registrations are established") {
		t.Errorf("the log does not say so:\n%s", r.log())
	}
	hub.Put(t, newFakeMember(t, "1").secret(t, "0"))
	memberstest.Eventually(t, "map[secret.0:Duplicate secret.a:Ready]", r.registered)
}

// Without a record nobody knows what was Ready before this program started.
func TestJoiningWithoutARecord(t *testing.T) {
	t.Parallel()
	hub, old, now := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	old.code, now.code = 503, 503
	hub.Put(t, old.secret(t, "old"))
	r := start(t, hub)
	r.becomes("old=ServerError")
	r.settles()
	hub.Put(t, now.secret(t, "now"))
	r.becomes("now=ServerError old=ServerError")
	if got := r.joining(); got != "now" {
		t.Errorf("joining are %q, want now", got)
	}
	now.set(func() { now.code = 0 })
	r.becomes("now=Ready old=ServerError")
	now.set(func() { now.code = 403 })
	r.becomes("now=Forbidden old=ServerError")
	if got := r.joining(); got != "" {
		t.Errorf("joining are %q, though all may have been Ready", got)
	}
	hub.Remove(memberstest.FleetSecretsPath, "now")
	r.becomes("old=ServerError")
	hub.Put(t, now.secret(t, "now"))
	r.becomes("now=Forbidden old=ServerError")
	if got := r.joining(); got != "now" {
		t.Errorf("joining are %q, want now, which was registered again", got)
	}
}

// A record outlives an API that is not served for a while, but not a registration that is gone.
func TestRecordOutlivesAnAbsentAPI(t *testing.T) {
	s := newSociety(t)
	s.settled = true
	k := fromKarmada("a")
	s.register(k, "a")
	s.contact(k, "1")
	s.knows = func(string) bool { return false }
	s.deregister(k)
	s.register(k, "a")
	if s.entries[k].member.Joining() || s.established["1"].Registration != "karmada/a" {
		t.Errorf("the record is lost: %v", s.established)
	}
	s.knows = func(string) bool { return true }
	s.deregister(k)
	if len(s.established) != 0 {
		t.Errorf("the record outlives the registration: %v", s.established)
	}
}

func TestRecordsAreBounded(t *testing.T) {
	long := records{}
	for i := range 2 * mostRecords {
		long[types.UID(fmt.Sprintf("%036d", i))] = holder{
			Registration: fmt.Sprintf("secret/%d%s", i, strings.Repeat("s", 240)), Name: strings.Repeat("n", 63),
			proof: proof{strings.Repeat("a", 43), strings.Repeat("w", 43)},
		}
	}
	stored := map[string]string{fmt.Sprintf("%036d", 2*mostRecords-1): "anything"}
	data := long.encode(stored)
	bytes := 0
	for uid, text := range data {
		bytes += len(uid) + len(text)
	}
	if bytes > 1<<20 || len(data) < 1000 {
		t.Errorf("%d records take %d bytes", len(data), bytes)
	}
	if data[fmt.Sprintf("%036d", 2*mostRecords-1)] == "" {
		t.Error("what was stored gave way to others")
	}
	back := decode(data)
	for uid := range back {
		if back[uid] != long[uid] {
			t.Errorf("%v came back as %v", long[uid], back[uid])
		}
	}
	if len(back) != len(data) {
		t.Errorf("of %d records %d came back", len(data), len(back))
	}
	short := records{
		"1": {Registration: "secret/a", Name: "a"}, "2": {Registration: "secret/" + strings.Repeat("b", mostRecord)},
		"a/b": {Registration: "secret/c"},
	}
	fleettest.Same(t, "", map[string]string{"1": `{"registration":"secret/a","name":"a"}`}, short.encode(nil))
}

func TestDecodeLeavesOutWhatItCannotRead(t *testing.T) {
	got := decode(map[string]string{
		"1": `{"registration":"secret/a","name":"a","later":true}`, "2": `{"registration":"secret/a"}`, "3": `{`, "4": `{}`,
		"5": `{"registration":"` + strings.Repeat("x", mostRecord) + `"}`, strings.Repeat("6", mostUID+1): `{"registration":"secret/b"}`,
	})
	fleettest.Same(t, "", records{"1": {Registration: "secret/a", Name: "a"}}, got, cmp.AllowUnexported(holder{}))
}

// Ten addresses that nobody answers at are listed, and lack in no answer; one that was Ready does.
func TestDeadRegistrationsDoNotCount(t *testing.T) {
	t.Parallel()
	hub, east, dead := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Put(t, east.secret(t, "east"))
	r, _ := recording(t, hub)
	r.becomes("east=Ready")
	memberstest.Eventually(t, "1=secret/east", recorded(hub))
	dead.set(func() { dead.code = 503 })
	for i := range 10 {
		hub.Put(t, dead.secret(t, fmt.Sprintf("dead-%d", i)))
	}
	counted := func() string {
		var names []string
		for _, m := range r.Counted() {
			names = append(names, m.Name())
		}
		return fmt.Sprint(len(r.Members()), names)
	}
	memberstest.Eventually(t, "11 [east]", counted)
	east.set(func() { east.code = 503 })
	r.becomes("dead-0=ServerError dead-1=ServerError dead-2=ServerError dead-3=ServerError dead-4=ServerError dead-5=ServerError " +
		"dead-6=ServerError dead-7=ServerError dead-8=ServerError dead-9=ServerError east=ServerError")
	memberstest.Eventually(t, "11 [east]", counted)
}

// What is recorded of a cluster is the authority that its registration gives, as far as that tells it from others.
func TestAuthorityIsRecorded(t *testing.T) {
	t.Parallel()
	hub, direct, proxied := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	proxied.Config.Handler = http.StripPrefix("/cluster", proxied)
	hub.Put(t, direct.secret(t, "direct"))
	hub.Put(t, registrationtest.Secret(proxied.kubeconfig(t,
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.Server += "/cluster" })), registrationtest.Named("proxied")))
	r, _ := recording(t, hub)
	r.becomes("direct=Ready proxied=Ready")
	memberstest.Eventually(t, "1=secret/direct 2=secret/proxied", recorded(hub))
	sum := sha256.Sum256(direct.Certificate().RawSubjectPublicKeyInfo)
	want := fmt.Sprintf("%s, none behind a path, but how it is reached", base64.RawURLEncoding.EncodeToString(sum[:]))
	memberstest.Eventually(t, want, func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		if behind := r.recorded["2"]; behind.Authority != "" || behind.Way == "" {
			return fmt.Sprintf("of one behind a path it is recorded that %+v", behind)
		}
		return r.recorded["1"].Authority + ", none behind a path, but how it is reached"
	})
}
