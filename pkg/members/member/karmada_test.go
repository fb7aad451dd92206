// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// karmadaObject is a push-mode Cluster that leads to the member.
func karmadaObject(m *fakeMember, name string, edits ...func(spec map[string]any)) *unstructured.Unstructured {
	spec := map[string]any{
		"syncMode": "Push", "apiEndpoint": m.URL,
		"secretRef": map[string]any{"namespace": "karmada-cluster", "name": name},
	}
	for _, edit := range edits {
		edit(spec)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

func (m *fakeMember) karmadaSecret(name string) *corev1.Secret {
	var token string
	m.set(func() { token = m.token })
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-cluster", Name: name},
		Data:       map[string][]byte{"token": []byte(token), "caBundle": m.ca()},
	}
}

func TestKarmadaComesLater(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	r.settles()

	hub.Put(t, west.karmadaSecret("west"))
	hub.Put(t, karmadaObject(west, "west"))
	hub.Set(func() { hub.Karmada = true })
	r.becomes("east=Ready west=Ready")
	r.asks("west", "2")

	hub.Set(func() { hub.Karmada = false })
	r.becomes("east=Ready")
	hub.Set(func() { hub.Karmada = true })
	r.becomes("east=Ready west=Ready")
	hub.Remove(memberstest.ClustersPath, "west")
	r.becomes("east=Ready")
}

func orSettled(err error) string {
	if err != nil {
		return err.Error()
	}
	return "settled"
}

func TestKarmadaCredentialsRotate(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Put(t, karmadaObject(west, "west"))
	r := start(t, hub)
	r.becomes("west=MissingCredentials")
	m := r.member("west")
	hub.Put(t, west.karmadaSecret("west"))
	r.becomes("west=Ready")
	west.set(func() { west.token = "n3w" })
	r.becomes("west=Forbidden")
	hub.Put(t, west.karmadaSecret("west"))
	r.becomes("west=Ready")
	hub.Remove(memberstest.KarmadaSecretsPath, "west")
	r.becomes("west=MissingCredentials")

	hub.Put(t, west.karmadaSecret("west-2"))
	hub.Put(t, karmadaObject(west, "west", func(spec map[string]any) {
		spec["secretRef"] = map[string]any{"namespace": "karmada-cluster", "name": "west-2"}
	}))
	r.becomes("west=Ready")
	if r.member("west") != m {
		t.Error("other credentials made another member")
	}
}

func TestUnreadableCredentialsAreWaitedForOneDeadline(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Forbidden[memberstest.KarmadaSecretsPath] = true
	hub.Put(t, east.secret(t, "east"))
	hub.Put(t, karmadaObject(west, "west"))
	hub.Put(t, west.karmadaSecret("west"))
	r := start(t, hub, impatiently)
	r.becomes("east=Ready west=MissingCredentials")
	want := "Secret karmada-cluster/west, which spec.secretRef names, could not be read yet (Forbidden: no)"
	if got := r.member("west").State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	r.settles()
	hub.Set(func() { hub.Forbidden[memberstest.KarmadaSecretsPath] = false })
	r.becomes("east=Ready west=Ready")
}

func TestPullModeIsVisible(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	hub.Karmada = true
	pull := func(spec map[string]any) {
		spec["syncMode"], spec["id"] = "Pull", "2"
		delete(spec, "secretRef")
	}
	hub.Put(t, karmadaObject(west, "west", pull))
	r := start(t, hub)
	r.becomes("west=PullMode")
	for _, q := range hub.SecretQueries() {
		if strings.HasPrefix(q, memberstest.KarmadaSecretsPath) {
			t.Errorf("read %s, which nobody needs", q)
		}
	}
	hub.Put(t, west.secret(t, "west")) // the way out that the message names
	r.becomes("karmada.west=PullMode west=Ready")
	same := karmadaObject(west, "west", pull)
	same.SetAnnotations(map[string]string{registration.SameAsAnnotation: "west"})
	hub.Put(t, same)
	r.becomes("west=Ready")
	hub.Remove(memberstest.FleetSecretsPath, "west")
	r.becomes("west=PullMode")
}

// TestPullModeWithCredentials is of what karmada-agent reports by default: a member like any other, by the same rule of identity.
func TestPullModeWithCredentials(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	hub.Karmada = true
	pull := func(spec map[string]any) { spec["syncMode"] = "Pull" }
	unreported := func(spec map[string]any) { delete(spec, "secretRef") }
	hub.Put(t, karmadaObject(west, "west", pull))
	hub.Put(t, west.karmadaSecret("west"))
	r := start(t, hub)
	r.becomes("west=Ready")
	r.asks("west", "2")
	r.settles() // until then order decides who is used, and not who was first
	m := r.member("west")

	hub.Put(t, west.secret(t, "zulu")) // the way out that was needed before
	memberstest.Eventually(t, "map[karmada.west:Ready secret.zulu:Duplicate]", r.registered)
	hub.Put(t, karmadaObject(west, "west")) // the mode changes, and nothing else
	memberstest.Eventually(t, "map[karmada.west:Ready secret.zulu:Duplicate]", r.registered)
	if r.member("west") != m {
		t.Error("the other mode made another member")
	}
	hub.Put(t, karmadaObject(west, "west", pull, unreported)) // it gives the cluster up
	r.becomes("west=PullMode zulu=Ready")
	r.asks("zulu", "2")
}

// TestPullModeOutOfReach is of an agent that reports an address which the hub cannot reach.
func TestPullModeOutOfReach(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Put(t, karmadaObject(west, "west", func(spec map[string]any) {
		spec["syncMode"], spec["apiEndpoint"] = "Pull", "https://127.0.0.1:1"
	}))
	hub.Put(t, west.karmadaSecret("west"))
	r := start(t, hub)
	r.becomes("west=Unreachable")
}

func TestOneClusterInTwoSourcesIsUsedOnce(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Karmada = true
	hub.Put(t, east.karmadaSecret("alpha"))
	hub.Put(t, karmadaObject(east, "alpha"))
	hub.Put(t, east.secret(t, "zulu"))
	r := start(t, hub)
	r.becomes("zulu=Ready")
	memberstest.Eventually(t, "map[karmada.alpha:Duplicate secret.zulu:Ready]", r.registered)
	hub.Remove(memberstest.FleetSecretsPath, "zulu")
	r.becomes("alpha=Ready")
	r.asks("alpha", "1")
}

func TestOneNameForTwoClusters(t *testing.T) {
	t.Parallel()
	hub, east, other := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Put(t, east.secret(t, "east"))
	hub.Put(t, other.karmadaSecret("east"))
	hub.Put(t, karmadaObject(other, "east"))
	r := start(t, hub)
	r.becomes("east=Ready karmada.east=NameConflict")
	r.asks("east", "1")
	if _, err := ask(t.Context(), r.member("karmada.east")); reasonOf(err) != reasonNameConflict {
		t.Errorf("asking the loser: %v, want NameConflict", err)
	}
	hub.Remove(memberstest.FleetSecretsPath, "east")
	r.becomes("east=Ready")
	r.asks("east", "2")
}

func TestUnreadableSourcesAreNamed(t *testing.T) {
	t.Parallel()
	hub := memberstest.NewHub(t)
	hub.Karmada = true
	hub.Forbidden["/api/v1/namespaces/fleet/secrets"] = true
	hub.Forbidden[memberstest.ClustersPath] = true
	hub.Forbidden[identityPath] = true
	r := start(t, hub)
	memberstest.Eventually(t, "waiting for the Secrets with the label fleetscale.io/member of namespace fleet (Forbidden: no); "+
		"Karmada's Clusters (Forbidden: no)",
		func() string { return orSettled(r.Settled()) })
	hub.Set(func() { clear(hub.Forbidden) })
	r.settles()
}

func TestUnansweredDiscoveryIsNamed(t *testing.T) {
	t.Parallel()
	hub := memberstest.NewHub(t)
	hub.Forbidden[memberstest.KarmadaPath] = true
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = time.Second })
	memberstest.Eventually(t, "waiting for the hub's word whether it serves Karmada's Clusters (discovering cluster.karmada.io/v1alpha1: no)",
		func() string { return orSettled(r.Settled()) })
}

func TestOneAbsenceOfTheAPIIsNoDeparture(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	hub.Karmada = true
	hub.Put(t, west.karmadaSecret("west"))
	hub.Put(t, karmadaObject(west, "west"))
	r := start(t, hub)
	r.becomes("west=Ready")
	m := r.member("west")
	hub.Set(func() { hub.Script = []string{"absent", "served", "absent", "error", "absent", "served"} })
	memberstest.Eventually(t, "0 left", func() string {
		left := 0
		hub.Set(func() { left = len(hub.Script) })
		return fmt.Sprintf("%d left", left)
	})
	r.becomes("west=Ready")
	if r.member("west") != m || strings.Contains(r.log(), "Cluster left") {
		t.Errorf("the cluster has left for a moment's absence of the API; log:\n%s", r.log())
	}
}

// A member that is asked through the hub is asked nowhere else, by the program's own identity on the hub. When that ends, it is asked
// as itself again.
func TestKarmadaThroughTheHub(t *testing.T) {
	t.Parallel()
	hub, west, elsewhere := memberstest.NewHub(t), newFakeMember(t, "2"), newFakeMember(t, "3")
	const below = "/apis/cluster.karmada.io/v1alpha1/clusters/west/proxy"
	aggregated := newFakeMember(t, "hub")
	aggregated.token = "of the hub"
	behind, err := url.Parse(west.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Transport: west.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, below)
		r.SetURL(behind)
		r.Out.Header.Set("Authorization", "Bearer s3cret") // and who asks
	}}
	aggregated.handle = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, below+"/") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		pass.ServeHTTP(w, r)
	}
	hub.Karmada = true
	cluster := karmadaObject(elsewhere, "west", func(spec map[string]any) {
		spec["syncMode"] = "Pull"
		spec["impersonatorSecretRef"] = map[string]any{"namespace": "karmada-cluster", "name": "west-impersonator"}
	})
	cluster.SetAnnotations(map[string]string{"fleetscale.io/through-hub": "true"})
	hub.Put(t, cluster.DeepCopy())
	hub.Put(t, elsewhere.karmadaSecret("west"))
	r := start(t, hub, func(o *Options) {
		o.Registrations.Hub = registration.Endpoint{Config: &rest.Config{
			Host: aggregated.URL, BearerToken: "of the hub", TLSClientConfig: rest.TLSClientConfig{CAData: aggregated.ca()},
		}}
	})
	r.becomes("west=Ready")
	r.asks("west", "2")
	if n := elsewhere.requests.Load(); n != 0 {
		t.Errorf("%d requests went to the address of the Cluster", n)
	}

	// Many clusters have the hub's authority and address: that is no proof that another registration is of this one.
	hub.Put(t, west.secret(t, "spare"))
	r.becomes("spare=IdentityConflict west=Ready")
	hub.Remove(memberstest.FleetSecretsPath, "spare")
	r.becomes("west=Ready")

	cluster.SetAnnotations(nil)
	hub.Put(t, cluster)
	r.becomes("west=Ready")
	memberstest.Eventually(t, "asked itself", func() string {
		if elsewhere.requests.Load() > 0 {
			return "asked itself"
		}
		return ""
	})
	elsewhere.set(func() {
		if slices.Contains(elsewhere.tokens, "of the hub") {
			t.Error("what the program is let in by on the hub was sent to a member")
		}
	})
}
