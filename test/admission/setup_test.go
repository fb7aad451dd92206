// SPDX-License-Identifier: Apache-2.0

// Package admission_test holds the built webhook to what it promises, on a real
// hub: a lab without members, whose kube-apiserver has the kinds of deploy/ and
// asks as deploy/ says.
//
// Each test starts the replicas that it needs, behind one front as behind a
// Service, and ends them.
package admission_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// patience is ours, with anything: machines may be busy.
const patience = time.Minute

// env is the hub that all tests share.
type env struct {
	*fixture.Fleet
	dir     string
	program string
	front   *fixture.Front
	started int
}

// shared is one env for all tests.
var shared = fixture.Shared[*env]{Name: "admission", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

// Down stops everything.
func (e *env) Down() error { return errors.Join(e.front.Close(), e.Fleet.Down()) }

// hub returns the shared hub, with the kinds and without any webhook.
func hub(t testing.TB) *env {
	t.Helper()
	return shared.Of(t)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{dir: dir}
	return e, fixture.Raise(ctx, dir, lab.Options{}, []string{"webhook"}, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet, e.program = f, programs["webhook"]
	if err := e.InstallKinds(ctx, e.Hub()); err != nil {
		return err
	}
	e.front, err = fixture.NewFront(ctx)
	return err
}

// install has the hub ask the front, until the test ends. It begins without a
// certificate.
func (e *env) install(t testing.TB) {
	t.Helper()
	if err := e.InstallWebhook(t.Context(), e.Hub(), e.front.Port()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, kind := range []string{"mutatingwebhookconfiguration", "validatingwebhookconfiguration"} {
			if _, err := e.Ask(ctx, "delete", kind, "fleetscale"); err != nil {
				t.Error(err)
			}
		}
		if _, err := e.Ask(ctx, "-n", fixture.SystemNamespace, "delete", "secret", fixture.WebhookSecret, "--ignore-not-found"); err != nil {
			t.Error(err)
		}
	})
}

// replicas starts n of them behind the front, all at once, and returns when all
// are ready. They are killed when the test ends.
func (e *env) replicas(t testing.TB, n int, args ...string) []*fixture.Webhook {
	t.Helper()
	all, errs := make([]*fixture.Webhook, n), make([]error, n)
	var starting sync.WaitGroup
	for i := range n {
		e.started++
		name := fmt.Sprintf("webhook-%d", e.started)
		starting.Go(func() { all[i], errs[i] = e.StartWebhook(t.Context(), e.Hub(), e.program, name, args...) })
	}
	starting.Wait()
	t.Cleanup(func() {
		e.front.LeadTo()
		for _, w := range all {
			if w == nil || w.Process == nil {
				continue
			}
			if err := w.Kill(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				showLog(t, w.Log)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	e.front.LeadTo(ports(all)...)
	return all
}

func ports(replicas []*fixture.Webhook) []int {
	var all []int
	for _, w := range replicas {
		all = append(all, w.Port)
	}
	return all
}

// asked is install and n replicas, once the hub asks them.
func (e *env) asked(t testing.TB, n int, args ...string) []*fixture.Webhook {
	t.Helper()
	e.install(t)
	all := e.replicas(t, n, args...)
	e.awaitAnswers(t)
	return all
}

// awaitAnswers returns when the hub gets answers: it takes up changes of webhook
// configurations a moment later. Some other webhook of the same configuration
// answers then too.
func (e *env) awaitAnswers(t testing.TB) {
	t.Helper()
	client := e.client(t)
	await(t, func(ctx context.Context) error {
		said, err := client.try(ctx, "default", probe("probe", 0))
		if err == nil {
			return errors.New("the webhook was not asked: a fault was let through")
		}
		if len(said.causes) == 0 || said.by != webhookOf("FederatedHPA") {
			return err
		}
		return nil
	})
}

func await(t testing.TB, check func(context.Context) error) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatal(err)
	}
}

func (e *env) kubectl(t testing.TB, args ...string) fixture.Said {
	t.Helper()
	said, err := e.Ask(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// namespace makes one for the test.
func (e *env) namespace(t testing.TB, name string) string {
	t.Helper()
	e.kubectl(t, "create", "namespace", name)
	t.Cleanup(func() {
		_, _ = e.Ask(context.WithoutCancel(t.Context()), "delete", "namespace", name, "--wait=false")
	})
	return name
}

func showLog(t testing.TB, file string) {
	const shown = 4000
	data, err := os.ReadFile(file)
	if err != nil {
		t.Log(err)
		return
	}
	t.Logf("the end of %s:\n%s", file, data[max(0, len(data)-shown):])
}
