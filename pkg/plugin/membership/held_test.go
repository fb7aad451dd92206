// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// forge has the hub hold a registration that says that it is east's, and leads to this server by this authority.
func (s *stage) forge(name, server string, authority []byte) {
	s.t.Helper()
	kubeconfig, err := way{server: server, authority: authority}.kubeconfig(reader, "former")
	if err != nil {
		s.t.Fatal(err)
	}
	s.register(name, "uid-of-east")
	o := s.hub.get(readPath + name)
	o["metadata"].(object)["annotations"].(object)[registration.NameAnnotation] = "east"
	o["data"] = object{kubeconfigKey: base64.StdEncoding.EncodeToString(kubeconfig)}
}

// Tokens of a cluster are written to no Secret that leads elsewhere, whatever it says of itself.
func TestRotateWritesNoTokensForOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		edit   func(*stage)
		server string
		want   string
	}{
		"two of one name": {edit: func(s *stage) {
			if err := s.join(nil, "east"); err != nil {
				s.t.Fatal(err)
			}
			s.forge("aaa", "https://10.0.0.66", nil)
		}, want: `the Secrets aaa, east of the hub all bear the name "east"`},
		"another server": {edit: func(s *stage) { s.forge("aaa", "https://10.0.0.66", s.members["east"].authority()) },
			want: "does not lead to"},
		"another authority": {edit: func(s *stage) { s.forge("aaa", s.members["east"].http.URL, nil) }, want: "by another authority"},
		"another server than given": {edit: func(s *stage) { s.forge("aaa", "https://10.0.0.66", s.members["east"].authority()) },
			server: "https://10.0.0.5", want: "does not lead to https://10.0.0.5"},
		"a known cluster": {edit: func(s *stage) {
			s.forge("aaa", s.members["east"].http.URL, s.members["east"].authority())
			s.register("other", "uid-of-east")
		}, want: `is a member already, as "other"`},
		"a Secret called so": {edit: func(s *stage) {
			s.register("east", "uid-of-east")
			s.hub.get(readPath + "east")["metadata"].(object)["annotations"].(object)[registration.NameAnnotation] = "west"
		}, want: `registers its cluster under the name "west"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "east")
			s.members["east"].put("/api/v1/namespaces/"+memberNamespace, object{})
			tc.edit(s)
			changed, granted := len(s.hub.asked), len(s.members["east"].asked)
			for _, revoke := range []bool{false, true} {
				err := s.rotate(func(r *Rotate) { r.Server, r.Revoke = tc.server, revoke }, Target{"east", "east"})
				s.keepsSecrets(err)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("rotate = %v, want %q", err, tc.want)
				}
			}
			if len(s.hub.asked) != changed || len(s.members["east"].asked) != granted {
				t.Errorf("changed: %q, %q", s.hub.asked[changed:], s.members["east"].asked[granted:])
			}
		})
	}
}

// Who joined by another address than the context's gives it again.
func TestRotateByTheHubsAddress(t *testing.T) {
	s := newStage(t, "east")
	server := strings.Replace(s.members["east"].http.URL, "127.0.0.1", "localhost", 1)
	if err := s.join(func(j *Join) { j.Server = server }, "east"); err != nil {
		t.Fatal(err)
	}
	if err := s.rotate(nil, Target{"east", "east"}); err == nil || !strings.Contains(err.Error(), "with --server") {
		t.Errorf("rotate = %v", err)
	}
	former := s.credential(readPath + "east").BearerToken
	if err := s.rotate(func(r *Rotate) { r.Server = server }, Target{"east", "east"}); err != nil {
		t.Fatal(err)
	}
	if now := s.credential(readPath + "east"); now.BearerToken == former || now.Host != server {
		t.Error("the token is the former one, or leads elsewhere")
	}
}
