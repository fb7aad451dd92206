// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

func (s *stage) rotate(edit func(*Rotate), targets ...Target) error {
	s.t.Helper()
	r := Rotate{Targets: targets, Timeout: 2 * time.Second}
	if edit != nil {
		edit(&r)
	}
	if err := r.Validate(); err != nil {
		return err
	}
	return r.Run(s.t.Context(), s.streams(""), s.connected(), s.connect)
}

// admits reports whether a member accepts a token.
func (s *stage) admits(member, token string) bool {
	request, _ := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "/", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+token)
	m := s.members[member]
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.admitted(request)
}

func TestRotateByThePerson(t *testing.T) {
	for name, revoke := range map[string]bool{"former tokens stay": false, "former tokens are revoked": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "east")
			if err := s.join(nil, "east"); err != nil {
				t.Fatal(err)
			}
			former := map[string]string{}
			for _, at := range []string{readPath, writePath} {
				former[at] = s.credential(at + "east").BearerToken
			}
			err := s.rotate(func(r *Rotate) { r.Revoke = revoke }, Target{"east", "east"})
			s.keepsSecrets(err)
			if err != nil {
				t.Fatal(err)
			}
			for at, token := range former {
				now := s.credential(at + "east").BearerToken
				if now == token || !s.admits("east", now) {
					t.Errorf("%s has no new token that works", at)
				}
				if s.admits("east", token) == revoke {
					t.Errorf("the former token of %s is accepted: %v", at, !revoke)
				}
			}
			if s.hub.get(readPath + "east")["data"].(object)["kubeconfig"] == s.hub.get(writePath + "east")["data"].(object)["kubeconfig"] {
				t.Error("both credentials are one")
			}
		})
	}
}

// With --all, names that nobody could type are these clusters' faults, and no other's.
func TestRotateAll(t *testing.T) {
	s := newStage(t, "east")
	if _, err := s.connected().All(); err == nil {
		t.Error("none is accepted")
	}
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	for name, cluster := range map[string]string{"a": "twice", "b": "twice", "c": "a=b", "d": "A B"} {
		s.register(name, "uid-of-"+name)
		s.hub.get(readPath + name)["metadata"].(object)["annotations"].(object)[registration.NameAnnotation] = cluster
	}
	targets, err := s.connected().All()
	if err != nil || len(targets) != 4 {
		t.Fatalf("all are %v, error %v", targets, err)
	}
	err = s.rotate(func(r *Rotate) { r.Timeout = 20 * time.Millisecond }, targets...)
	for _, want := range []string{"4 of 4 clusters failed", `a=b: "a=b" cannot name a cluster`, `A B: "A B" cannot name`,
		`twice: the Secrets a, b of the hub all bear the name`, "east: the controller-manager has not renewed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rotate = %v, want %q", err, want)
		}
	}
}

// A person who stops waiting while accounts are replaced leaves a cluster that the hub reaches, wherever that happens.
func TestRevokeCutOff(t *testing.T) {
	for after := range 8 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			s := newStage(t, "east")
			if err := s.join(nil, "east"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var left atomic.Int32
			left.Store(int32(after))
			answers := s.hub.meets
			cut := func(r *http.Request) {
				if r.Method != http.MethodGet && left.Add(-1) < 0 {
					cancel()
				}
			}
			s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool { cut(r); return answers(w, r) }
			s.members["east"].meets = func(_ http.ResponseWriter, r *http.Request) bool { cut(r); return false }
			r := Rotate{Targets: []Target{{"east", "east"}}, Revoke: true, Timeout: time.Second}
			s.keepsSecrets(r.Run(ctx, s.streams(""), s.connected(), s.connect))
			for _, at := range []string{readPath, writePath} {
				if !s.admits("east", s.credential(at+"east").BearerToken) {
					t.Errorf("the token of %s is no longer accepted", at)
				}
			}
		})
	}
}

// What nobody renews is renewed by the person, who is told so.
func TestRotateReadOnly(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(func(j *Join) { j.ReadOnly = true }, "east"); err != nil {
		t.Fatal(err)
	}
	err := s.rotate(nil, Target{Name: "east"})
	if err == nil || !strings.Contains(err.Error(), "`kubectl fleetscale rotate east --context CONTEXT`") {
		t.Errorf("rotate = %v", err)
	}
	if err := s.rotate(func(r *Rotate) { r.Revoke = true }, Target{"east", "east"}); err != nil {
		t.Error(err)
	}
	if got := s.members["east"].has("fleetscale-write"); len(got) > 0 {
		t.Errorf("the member grants %q", got)
	}
}

func TestRotateRefused(t *testing.T) {
	s := newStage(t, "east", "west")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	changed := len(s.hub.asked)
	for want, target := range map[string]Target{
		"no Secret registers west":         {Name: "west"},
		"registers another cluster than":   {"east", "west"},
		"the kubeconfig has no context \"": {"east", "nope"},
	} {
		if err := s.rotate(nil, target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rotate %v = %v, want %q", target, err, want)
		}
	}
	if err := s.rotate(func(r *Rotate) { r.Revoke = true }, Target{Name: "east"}); err == nil {
		t.Error("--revoke without a context is accepted")
	}
	if len(s.hub.asked) != changed {
		t.Errorf("the hub was changed: %q", s.hub.asked[changed:])
	}
}

// New tokens last as long as the former ones, unless the person wants another life.
func TestRotateKeepsTheLifeOfTokens(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(func(j *Join) { j.TokenExpiry = 5 * time.Hour }, "east"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ flag, want time.Duration }{{0, 5 * time.Hour}, {2 * time.Hour, 2 * time.Hour}, {0, 2 * time.Hour}} {
		if err := s.rotate(func(r *Rotate) { r.TokenExpiry = tc.flag }, Target{"east", "east"}); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{readPath, writePath} {
			if now, ok := timesOfToken(s.credential(at + "east").BearerToken); !ok || now.expires.Sub(now.issued) != tc.want {
				t.Errorf("%s: with --token-expiry %v: %v", at, tc.flag, now)
			}
		}
	}
	err := s.rotate(func(r *Rotate) { r.TokenExpiry = time.Hour }, Target{Name: "east"})
	if err == nil || !strings.Contains(err.Error(), "--token-expiry: east needs a context") {
		t.Errorf("without a context: %v", err)
	}
}

// Without a context the controller-manager is asked, by an annotation that is taken away once it has renewed both tokens.
func TestRotateByTheControllerManager(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.rotate(nil, Target{Name: "east"}) }()
	asked := ""
	for asked == "" {
		select {
		case err := <-done:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
			s.hub.mu.Lock()
			asked = annotation(s.hub.objects[readPath+"east"], registration.RenewAnnotation)
			s.hub.mu.Unlock()
		}
	}
	if until, err := time.Parse(time.RFC3339, asked); err != nil || time.Since(until) > time.Minute {
		t.Errorf("the annotation is %q", asked)
	}
	for _, at := range []string{readPath, writePath} {
		s.hub.mu.Lock()
		o := s.hub.objects[at+"east"]
		o["data"].(object)[kubeconfigKey] = base64.StdEncoding.EncodeToString([]byte("another"))
		s.hub.mu.Unlock()
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if left := annotation(s.hub.get(readPath+"east"), registration.RenewAnnotation); left != "" {
		t.Errorf("the annotation %q is left", left)
	}
	if !strings.Contains(s.out.String(), "east rotated; the former ones are accepted until they expire, at ") {
		t.Errorf("output: %q", s.out.String())
	}
}

// A controller-manager that renews nothing is told by its last warning, and is asked no longer.
func TestRotateWithoutAnAnswer(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	s.hub.put("/api/v1/namespaces/fleetscale-clusters/events/one", object{
		"metadata": object{"name": "one", "namespace": "fleetscale-clusters"}, "type": "Warning", "reason": "TokenRenewalFailed",
		"message": "the member issues no token", "lastTimestamp": "2026-06-01T12:00:00Z",
	})
	err := s.rotate(func(r *Rotate) { r.Timeout = 50 * time.Millisecond }, Target{Name: "east"})
	if err == nil || !strings.Contains(err.Error(), "TokenRenewalFailed: the member issues no token") {
		t.Errorf("rotate = %v", err)
	}
	if left := annotation(s.hub.get(readPath+"east"), registration.RenewAnnotation); left != "" {
		t.Errorf("the annotation %q is left", left)
	}
}
