// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// A person sees the fleet by kubectl: each member's state and why, and what the controller-manager sees of it; and watches how a member
// freezes and comes back.
func TestMembers(t *testing.T) {
	e := whole(t)
	// What the last controller-manager published stays; here there was none.
	e.kubectl(t, "delete", "configmap", "fleetscale-members", "--namespace=fleetscale-system", "--ignore-not-found")
	e.prints(t, "each member is ready",
		lines("member[123] Ready secret/member[123] v1[.][0-9.]+ metrics,custom,external [1-9][0-9]* [0-9]+s", 3), "get", "members")
	e.prints(t, "nobody writes", lines("member[123] Ready .* read <unknown>", 3), "get", "mbr", "-o", "wide")

	watched := e.watchMember(t, "member2")
	e.freeze(t, "member2")
	watched.await(t, "member2 Silent Timeout secret/member2 v1")
	e.prints(t, "the frozen member is silent", lines("member2 Silent Timeout .* no answer.*", 1), "get", "member", "member2", "-o", "wide")
	e.thaw(t, "member2")
	watched.await(t, "member2 Ready secret/member2 v1")
	e.kubectl(t, "wait", "--for=jsonpath={.status.state}=Ready", "--timeout=30s", "members/member2")

	e.writersAreSeen(t)
	e.recovers(t)
}

// writersAreSeen starts a controller-manager, which says what it sees of the members.
func (e *env) writersAreSeen(t *testing.T) {
	t.Helper()
	f := &federated{env: e, clients: map[string]dynamic.Interface{}}
	t.Cleanup(func() { f.tidy(t) })
	if err := f.install(t); err != nil {
		t.Fatal(err)
	}
	c, err := e.StartControllers(t.Context(), e.Hub(), e.controllers, "members", federatedFlags()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	e.prints(t, "the controller-manager writes", lines("member[123] Ready .* read,write [0-9]+[dhm][0-9dhms]*", 3), "get", "members",
		"-o", "wide")
}

// lines is a check that so many lines are of the form, with one space between words.
func lines(form string, want int) func(string) error {
	line := regexp.MustCompile("(?m)^" + form + "$")
	return func(text string) error {
		if got := len(line.FindAllString(text, -1)); got != want {
			return fmt.Errorf("%d lines are as %q, want %d, of\n%s", got, form, want, text)
		}
		return nil
	}
}

var blanks = regexp.MustCompile(" +")

// oneSpace has one space between words, and none at the end of lines.
func oneSpace(text string) string {
	return strings.ReplaceAll(blanks.ReplaceAllString(text, " "), " \n", "\n")
}

// prints waits until kubectl prints what the check wants.
func (e *env) prints(t *testing.T, what string, check func(string) error, args ...string) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		said, err := e.Ask(ctx, args...)
		if err != nil {
			return err
		}
		return check(oneSpace(said.Stdout))
	})
	if err != nil {
		t.Fatalf("%s: kubectl %s: %v", what, strings.Join(args, " "), err)
	}
}

// watching is what kubectl prints of a member as that changes.
type watching struct {
	mu      sync.Mutex
	printed bytes.Buffer
}

// Write implements io.Writer.
func (w *watching) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.printed.Write(text)
}

// watchMember returns once kubectl has printed how the member is.
func (e *env) watchMember(t *testing.T, name string) *watching {
	t.Helper()
	w := &watching{}
	ctx, stop := context.WithCancel(t.Context())
	cmd := e.Kubectl(ctx, "get", "member", name, "-w")
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	w.await(t, name+" Ready")
	return w
}

// await waits for a line that begins so, and forgets it and those before.
func (w *watching) await(t *testing.T, want string) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(context.Context) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		printed := oneSpace(w.printed.String())
		_, after, found := strings.Cut("\n"+printed, "\n"+want)
		if !found {
			return fmt.Errorf("no line begins with %q in\n%s", want, printed)
		}
		w.printed.Reset()
		w.printed.WriteString(after)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
