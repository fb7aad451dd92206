// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

const (
	readPath  = "/api/v1/namespaces/fleetscale-clusters/secrets/"
	writePath = "/api/v1/namespaces/fleetscale-clusters-write/secrets/"
	apiPath   = "/apis/members.fleetscale.io/v1alpha1/members/"
)

// stage is a hub and members, and what a person sees.
type stage struct {
	t       testing.TB
	hub     *server
	members map[string]*server
	// says is what the hub's programs say of a registered member.
	says func(name string) Said

	out, progress bytes.Buffer
	mu            sync.Mutex
}

// newStage is one with these members, each of its own uid.
func newStage(t testing.TB, members ...string) *stage {
	s := &stage{t: t, members: map[string]*server{}, says: func(string) Said { return Said{State: ready} }}
	s.hub = newServer(t, "uid-of-hub", "fleetscale-clusters", "fleetscale-clusters-write", "fleetscale-system")
	s.hub.meets = s.answers
	for _, name := range members {
		s.members[name] = newServer(t, "uid-of-"+name)
	}
	return s
}

// answers serves the API of members as the adapter does.
func (s *stage) answers(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, apiPath) {
		return false
	}
	name := path.Base(r.URL.Path)
	if o := s.hub.get(readPath + name); o == nil || label(o, registration.MemberLabel) != "true" {
		refuse(w, http.StatusNotFound, "NotFound", name)
		return true
	}
	s.mu.Lock()
	said := s.says(name)
	s.mu.Unlock()
	status := object{"state": said.State, "reason": said.Reason, "message": said.Message}
	if c := said.ControllerManager; c.State != "" {
		status["controllerManager"] = object{"state": c.State, "reason": c.Reason, "message": c.Message}
	}
	reply(w, object{"status": status})
	return true
}

func (s *stage) connect(name string) (*rest.Config, error) {
	if m := s.members[name]; m != nil {
		return m.config(), nil
	}
	return nil, fmt.Errorf("the kubeconfig has no context %q", name)
}

func (s *stage) streams(in string) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: strings.NewReader(in), Out: &s.out, ErrOut: &s.progress}
}

func (s *stage) places() Places {
	return Places{Registrations: "fleetscale-clusters", Writers: "fleetscale-clusters-write", Identities: "fleetscale-system"}
}

func (s *stage) connected() *Hub {
	s.t.Helper()
	h, err := NewHub(s.t.Context(), s.hub.config(), s.places())
	if err != nil {
		s.t.Fatal(err)
	}
	h.askAgain, h.settled, h.unpublished = 10*time.Millisecond, 30*time.Millisecond, 20*time.Millisecond
	return h
}

// join has members join that are called as their contexts.
func (s *stage) join(edit func(*Join), names ...string) error {
	return s.joinIn(s.t.Context(), edit, names...)
}

func (s *stage) joinIn(ctx context.Context, edit func(*Join), names ...string) error {
	s.t.Helper()
	j := Join{TokenExpiry: time.Hour, Timeout: 5 * time.Second, AllowLocal: true, DryRun: DryRunNone}
	for _, name := range names {
		j.Targets = append(j.Targets, Target{name, name})
	}
	if edit != nil {
		edit(&j)
	}
	if err := j.Validate(); err != nil {
		return err
	}
	return j.Run(ctx, s.streams(""), s.connected(), s.connect)
}

// credential is what a Secret of the hub lets its reader do.
func (s *stage) credential(at string) *rest.Config {
	s.t.Helper()
	o := s.hub.get(at)
	if o == nil {
		s.t.Fatalf("the hub has no %s", at)
	}
	data, err := base64.StdEncoding.DecodeString(o["data"].(object)[kubeconfigKey].(string))
	if err != nil {
		s.t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		s.t.Fatal(err)
	}
	return config
}

// keepsSecrets fails where a token of any server was shown.
func (s *stage) keepsSecrets(err error) {
	s.t.Helper()
	shown := s.out.String() + s.progress.String()
	if err != nil {
		shown += err.Error()
	}
	for _, m := range s.members {
		m.mu.Lock()
		for token := range m.tokens {
			if strings.Contains(shown, token) {
				s.t.Errorf("a token is shown:\n%s", shown)
			}
		}
		m.mu.Unlock()
	}
}

func annotation(o object, key string) string { return textOf(o, "annotations", key) }

func label(o object, key string) string { return textOf(o, "labels", key) }

func textOf(o object, field, key string) string {
	value, _, _ := unstructured.NestedString(o, "metadata", field, key)
	return value
}
