// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const karmadaSecrets = "/api/v1/namespaces/karmada-cluster/secrets"

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
	hub, east, west := newFakeHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	r.eventually("settled", func() string { return fmt.Sprint(orSettled(r.Settled())) })

	hub.put(t, west.karmadaSecret("west"))
	hub.put(t, karmadaObject(west, "west"))
	hub.set(func() { hub.karmada = true })
	r.becomes("east=Ready west=Ready")
	r.asks("west", "2")

	hub.set(func() { hub.karmada = false })
	r.becomes("east=Ready")
	hub.set(func() { hub.karmada = true })
	r.becomes("east=Ready west=Ready")
	hub.remove(clustersPath, "west")
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
	hub, west := newFakeHub(t), newFakeMember(t, "2")
	hub.karmada = true
	hub.put(t, karmadaObject(west, "west"))
	r := start(t, hub)
	r.becomes("west=MissingCredentials")
	m := r.member("west")
	hub.put(t, west.karmadaSecret("west"))
	r.becomes("west=Ready")
	west.set(func() { west.token = "n3w" })
	r.becomes("west=Forbidden")
	hub.put(t, west.karmadaSecret("west"))
	r.becomes("west=Ready")
	hub.remove(karmadaSecrets, "west")
	r.becomes("west=MissingCredentials")

	hub.put(t, west.karmadaSecret("west-2"))
	hub.put(t, karmadaObject(west, "west", func(spec map[string]any) {
		spec["secretRef"] = map[string]any{"namespace": "karmada-cluster", "name": "west-2"}
	}))
	r.becomes("west=Ready")
	if r.member("west") != m {
		t.Error("other credentials made another member")
	}
}

func TestUnreadableCredentialsAreWaitedForOneDeadline(t *testing.T) {
	t.Parallel()
	hub, east, west := newFakeHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.karmada = true
	hub.forbidden[karmadaSecrets] = true
	hub.put(t, east.secret(t, "east"))
	hub.put(t, karmadaObject(west, "west"))
	hub.put(t, west.karmadaSecret("west"))
	r := start(t, hub, impatiently)
	r.becomes("east=Ready west=MissingCredentials")
	want := "Secret karmada-cluster/west, which spec.secretRef names, could not be read yet (Forbidden: no)"
	if got := r.member("west").State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	r.eventually("settled", func() string { return orSettled(r.Settled()) })
	hub.set(func() { hub.forbidden[karmadaSecrets] = false })
	r.becomes("east=Ready west=Ready")
}

func TestPullModeIsVisible(t *testing.T) {
	t.Parallel()
	hub, west := newFakeHub(t), newFakeMember(t, "2")
	hub.karmada = true
	pull := func(spec map[string]any) { spec["syncMode"], spec["id"] = "Pull", "2" }
	hub.put(t, karmadaObject(west, "west", pull))
	r := start(t, hub)
	r.becomes("west=PullMode")
	for _, q := range hub.secretQueries() {
		if strings.HasPrefix(q, karmadaSecrets) {
			t.Errorf("read %s, which nobody needs", q)
		}
	}
	hub.put(t, west.secret(t, "west")) // the way out that the message names
	r.becomes("west=Ready")
	hub.remove("/api/v1/namespaces/fleet/secrets", "west")
	r.becomes("west=PullMode")
}

func TestOneClusterInTwoSourcesIsUsedOnce(t *testing.T) {
	t.Parallel()
	hub, east := newFakeHub(t), newFakeMember(t, "1")
	hub.karmada = true
	hub.put(t, east.karmadaSecret("alpha"))
	hub.put(t, karmadaObject(east, "alpha"))
	hub.put(t, east.secret(t, "zulu"))
	r := start(t, hub)
	r.becomes("zulu=Ready")
	r.eventually("map[karmada.alpha:Duplicate secret.zulu:Ready]", r.registered)
	hub.remove("/api/v1/namespaces/fleet/secrets", "zulu")
	r.becomes("alpha=Ready")
	r.asks("alpha", "1")
}

func TestOneNameForTwoClusters(t *testing.T) {
	t.Parallel()
	hub, east, other := newFakeHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.karmada = true
	hub.put(t, east.secret(t, "east"))
	hub.put(t, other.karmadaSecret("east"))
	hub.put(t, karmadaObject(other, "east"))
	r := start(t, hub)
	r.becomes("east=Ready karmada.east=NameConflict")
	r.asks("east", "1")
	if _, err := ask(t.Context(), r.member("karmada.east")); reasonOf(err) != reasonNameConflict {
		t.Errorf("asking the loser: %v, want NameConflict", err)
	}
	hub.remove("/api/v1/namespaces/fleet/secrets", "east")
	r.becomes("east=Ready")
	r.asks("east", "2")
}

func TestUnreadableSourcesAreNamed(t *testing.T) {
	t.Parallel()
	hub := newFakeHub(t)
	hub.karmada = true
	hub.forbidden["/api/v1/namespaces/fleet/secrets"] = true
	hub.forbidden[clustersPath] = true
	hub.forbidden[identityPath] = true
	r := start(t, hub)
	r.eventually("waiting for the registration Secrets of namespace fleet (Forbidden: no); Karmada's Clusters (Forbidden: no)",
		func() string { return orSettled(r.Settled()) })
	hub.set(func() { clear(hub.forbidden) })
	r.eventually("settled", func() string { return orSettled(r.Settled()) })
}

func TestUnansweredDiscoveryIsNamed(t *testing.T) {
	t.Parallel()
	hub := newFakeHub(t)
	hub.forbidden[discoveryPath] = true
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = time.Second })
	r.eventually("waiting for the hub's word whether it serves Karmada's Clusters (discovering cluster.karmada.io/v1alpha1: no)",
		func() string { return orSettled(r.Settled()) })
}

func TestOneAbsenceOfTheAPIIsNoDeparture(t *testing.T) {
	t.Parallel()
	hub, west := newFakeHub(t), newFakeMember(t, "2")
	hub.karmada = true
	hub.put(t, west.karmadaSecret("west"))
	hub.put(t, karmadaObject(west, "west"))
	r := start(t, hub)
	r.becomes("west=Ready")
	m := r.member("west")
	hub.set(func() { hub.script = []string{"absent", "served", "absent", "error", "absent", "served"} })
	r.eventually("0 left", func() string {
		left := 0
		hub.set(func() { left = len(hub.script) })
		return fmt.Sprintf("%d left", left)
	})
	r.becomes("west=Ready")
	if r.member("west") != m || strings.Contains(r.log(), "Cluster left") {
		t.Errorf("the cluster has left for a moment's absence of the API; log:\n%s", r.log())
	}
}
