// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// project is one that registers clusters in its own way.
type project struct {
	// args have a program read its registrations.
	args []string
	// registration is what that of the member is listed as when its name is taken.
	registration string
	// manifest is what the project has on the hub for the member, with the token.
	manifest func(token string) string
	// object is deleted to remove the registration.
	object []string
	// status is that of the object, in JSON; empty: it has none.
	status string
}

// hold goes through the life of a registration.
func (e *env) hold(t *testing.T, p project) {
	t.Helper()
	first, second := e.account(t, "first"), e.account(t, "second")
	e.runs(t, "web-0")
	reads := e.start(t, fixture.AdapterService, registration.Read, p.args...)
	writes := e.start(t, fixture.ControllersAccount, registration.Write, p.args...)

	e.feed(t, p.manifest(first))
	if p.status != "" {
		e.ask(t, append([]string{"patch", "--subresource=status", "--type=merge", "-p", p.status}, p.object...)...)
	}
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), append([]string{"delete", "--ignore-not-found"}, p.object...)...) })
	for _, program := range []*program{reads, writes} {
		program.registered(t, p.registration+"=Ready")
		// Nobody is established before.
		memberstest.Eventually(t, "<nil>", func() string { return fmt.Sprint(program.Settled()) })
	}
	m := writes.only(t)
	memberstest.Eventually(t, "web-0", func() string { return writes.runs(t, m) })

	e.register(t, "spare", second)
	for _, program := range []*program{reads, writes} {
		program.registered(t, p.registration+"=Ready", "secret.spare=Duplicate")
	}

	before := m.Client()
	e.feed(t, p.manifest(second))
	memberstest.Eventually(t, "true", func() string {
		if got := writes.runs(t, m); got != "web-0" {
			t.Fatalf("while the credentials change the Pods are %s", got)
		}
		return fmt.Sprint(m.Client() != before)
	})
	e.revoke(t.Context(), t, "first")
	e.runs(t, "web-1")
	memberstest.Eventually(t, "web-0 web-1", func() string { return writes.runs(t, m) })
	if got := writes.only(t); got != m {
		t.Error("with new credentials the cluster is another member")
	}
	for _, program := range []*program{reads, writes} {
		program.registered(t, p.registration+"=Ready", "secret.spare=Duplicate")
	}

	e.ask(t, append([]string{"delete"}, p.object...)...)
	for _, program := range []*program{reads, writes} {
		program.registered(t, "secret.spare=Ready")
	}
	e.ask(t, "-n", fixture.RegistrationNamespace, "delete", "secret", "spare")
}

// register registers the member with a Secret of our own.
func (e *env) register(t *testing.T, name, token string) {
	t.Helper()
	kubeconfig, err := e.member.TokenKubeconfig(token)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Register(t.Context(), name, kubeconfig); err != nil {
		t.Fatal(err)
	}
}
