// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The adapter dies and is started again. Until it knows its members the hub
// says that there is no answer; the first answer is whole.
func TestAdapterKilledAndRestarted(t *testing.T) {
	e := whole(t)
	if err := e.adapter.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if state, _, _ := e.adapter.State(); state != "running" {
			_ = e.adapter.Start(afterwards(t))
		}
	})
	e.sees(t, "the hub says that nobody answers", shopPath, func(v view) error {
		if v.Code != http.StatusServiceUnavailable {
			return fmt.Errorf("%d %s, want 503", v.Code, v.Message)
		}
		return nil
	})
	begin := time.Now()
	if err := e.adapter.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := see(t.Context(), directly(t, e.adapter), shopPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := isWhole(v); err != nil {
		t.Errorf("the first answer: %v", err)
	}
	t.Logf("the first answer was there %v after the start", time.Since(begin).Round(100*time.Millisecond))
	e.recovers(t)
}

// A member that hangs keeps the adapter from being ready for one deadline and no
// longer. The first answer says what is missing.
func TestAdapterStartsWhileAMemberHangs(t *testing.T) {
	e := whole(t)
	e.freeze(t, "member1")
	if err := e.adapter.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := e.adapter.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := see(t.Context(), directly(t, e.adapter), shopPath)
	if err == nil {
		err = lacks("member1", "Timeout")(v)
	}
	if err != nil {
		t.Errorf("the first answer: %v", err)
	}
	e.thaw(t, "member1")
	e.recovers(t)
}

// A replica is not ready before it has heard of every member. Two replicas
// answer the same, and one is enough.
func TestTwoReplicas(t *testing.T) {
	e := whole(t)
	e.freeze(t, "member3")
	patient := append(adapterFlags(), "--member-timeout=1m", "--max-age=1m")
	started := make(chan error, 1)
	second, err := e.NewAdapter(t.Context(), e.Hub(), "metrics-adapter-2", patient...)
	if err != nil {
		t.Fatal(err)
	}
	go func() { started <- second.Launch(t.Context()) }()

	eventually(t, "the replica waits for the member", func(ctx context.Context) error {
		got, err := raw(ctx, directly(t, second), "/readyz?verbose", "")
		if err != nil {
			return err
		}
		if got.Code == http.StatusOK || !strings.Contains(string(got.Body), "[-]members-contacted") {
			return fmt.Errorf("readyz: %d %s", got.Code, got.Body)
		}
		return nil
	})
	e.thaw(t, "member3")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Kill() })
	v, err := see(t.Context(), directly(t, second), shopPath)
	if err == nil {
		err = isWhole(v)
	}
	if err != nil {
		t.Errorf("the replica's first answer: %v", err)
	}

	e.awaitWhole(t)
	eventually(t, "both replicas answer the same", func(ctx context.Context) error {
		one, err := see(ctx, directly(t, e.adapter), shopPath)
		if err != nil {
			return err
		}
		two, err := see(ctx, directly(t, second), shopPath)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(samples(one), samples(two)); diff != "" {
			return fmt.Errorf("the first replica (-), the second (+):\n%s", diff)
		}
		return nil
	})
}
