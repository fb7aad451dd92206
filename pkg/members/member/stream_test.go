// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// watching opens a watch, which the test ends.
func watching(ctx context.Context, t *testing.T, m *Member) (watch.Interface, error) {
	t.Helper()
	w, err := m.WatchClient().Get().AbsPath(streamPath).Watch(ctx)
	if err == nil {
		t.Cleanup(w.Stop)
	}
	return w, err
}

// reading reads an answer until it ends.
func reading(t *testing.T, m *Member) (first <-chan struct{}, end <-chan error) {
	t.Helper()
	body, err := m.WatchClient().Get().AbsPath(streamPath).Stream(t.Context())
	if err != nil {
		t.Fatalf("opening a stream: %v", err)
	}
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer body.Close()
		if _, err := io.ReadFull(body, make([]byte, 1)); err == nil {
			close(began)
		}
		_, err := io.Copy(io.Discard, body)
		ended <- err
	}()
	return began, ended
}

// openStreams counts those that the member serves.
func openStreams(m *fakeMember) string { return fmt.Sprintf("%d open", m.streams.Load()) }

func TestStreamLastsUntilItsCallerEnds(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t, impatiently)
	m := r.member("east")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := watching(ctx, t, m)
	if err != nil {
		t.Fatal(err)
	}
	for opened := time.Now(); time.Since(opened) < 2*time.Second; {
		if e, open := <-w.ResultChan(); !open || e.Type != watch.Added {
			t.Fatalf("%v after the opening: event %v, open %v; the deadline of a request must not end a watch", time.Since(opened), e.Type, open)
		}
	}
	memberstest.Eventually(t, "1 open", func() string { return openStreams(east) })
	cancel()
	for range w.ResultChan() {
	}
	w.Stop()
	memberstest.Eventually(t, "0 open", func() string { return openStreams(east) })
	r.becomes("east=Ready")
}

func TestStreamMustBeginInTime(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t, impatiently)
	m := r.member("east")
	east.freeze()
	asked := time.Now()
	w, err := watching(t.Context(), t, m)
	if got := reasonOf(err); got != fleet.ReasonTimeout {
		t.Errorf("opening a watch = %v, %v after %v; want %s", w, err, time.Since(asked), fleet.ReasonTimeout)
	}
	r.becomes("east=Timeout")
	memberstest.Eventually(t, "0 open", func() string { return openStreams(east) })
	east.thaw()
	r.becomes("east=Ready")
}

func TestStreamFollowsCredentials(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t, impatiently)
	m := r.member("east")
	old := m.WatchClient()
	began, ended := reading(t, m)
	<-began
	east.set(func() { east.token = "an0ther" })
	hub.Put(t, east.secret(t, "east"))
	if err := <-ended; !isReplaced(err) {
		t.Errorf("the stream ended with %v, want that the connection was replaced", err)
	}
	r.becomes("east=Ready")
	if w, err := old.Get().AbsPath(streamPath).Watch(t.Context()); !isReplaced(err) {
		t.Errorf("the client of former credentials: %v, %v, want that the connection was replaced", w, err)
	}
	w, err := watching(t.Context(), t, m)
	if err != nil {
		t.Fatalf("with new credentials: %v", err)
	}
	if e, open := <-w.ResultChan(); !open || e.Type != watch.Added {
		t.Errorf("event %v, open %v", e, open)
	}
}

// The member says that it lives; a connection whose peer has vanished does not.
func TestStreamEndsWithADeadConnection(t *testing.T) {
	t.Parallel() // it takes a ping's time
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hole := newBlackHole(t, east.Listener.Addr().String())
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnCluster(func(c *clientcmdapi.Cluster) {
		c.Server = "https://" + hole.Addr().String()
	}))))
	r := start(t, hub, impatiently)
	r.becomes("east=Ready")
	began, ended := reading(t, r.member("east"))
	<-began
	hole.swallow()
	if err := <-ended; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended with %v, want the connection's end", err)
	}
	r.becomes("east=Ready")
}

func TestStreamOfARefusedMember(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "x"} }))))
	r := start(t, hub)
	r.becomes("east=ExecNotAllowed")
	if _, err := watching(t.Context(), t, r.member("east")); reasonOf(err) != "ExecNotAllowed" {
		t.Errorf("opening a watch: %v, want %s", err, "ExecNotAllowed")
	}
}

func TestStreamIsCountedWhenItBegins(t *testing.T) {
	t.Parallel()
	_, _, r := joined(t)
	m := r.member("east")
	before := m.State().LastSuccess
	began, _ := reading(t, m)
	<-began
	if got := m.State().LastSuccess; !got.After(before) {
		t.Errorf("last success = %v, as before the stream began", got)
	}
}
