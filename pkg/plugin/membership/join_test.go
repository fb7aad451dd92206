// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

func TestJoin(t *testing.T) {
	s := newStage(t, "east")
	heard := []Said{
		{State: "Joining", Reason: "Unreachable", Message: "no route"},
		{State: ready, ControllerManager: View{State: "Joining", Reason: "Forbidden"}},
		{State: ready, ControllerManager: View{State: ready, Reason: ready}},
	}
	s.says = func(string) Said {
		now := heard[0]
		heard = heard[min(1, len(heard)-1):]
		return now
	}
	err := s.join(func(j *Join) { j.CreateIn = []string{} }, "east")
	s.keepsSecrets(err)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "output", "east joined\n", s.out.String())
	wantProgress := `east: granting rights in the cluster of context "east"
east: registering it on the hub
east: Joining (Unreachable: no route)
east: Ready, for the controller-manager Joining (Forbidden)
east: Ready
`
	fleettest.Same(t, "progress", wantProgress, s.progress.String())
	registered := s.hub.get(readPath + "east")
	if label(registered, registration.MemberLabel) != "true" || annotation(registered, UIDAnnotation) != "uid-of-east" {
		t.Errorf("the registration is %v", registered["metadata"])
	}
	if beside := s.hub.get(writePath + "east"); label(beside, registration.MemberLabel) != "" {
		t.Error("the credential that writes registers a cluster")
	}
	read, write := s.credential(readPath+"east"), s.credential(writePath+"east")
	if read.Host != s.members["east"].http.URL || string(read.CAData) != string(s.members["east"].authority()) || read.Insecure {
		t.Errorf("the registration leads to %s", read.Host)
	}
	if read.BearerToken == write.BearerToken || read.BearerToken == person {
		t.Error("the credentials are not those of the two identities")
	}
	if order := s.hub.asked; !strings.Contains(order[0], "clusters-write") {
		t.Errorf("the hub was asked %q; want the credential that writes before the registration", order)
	}
}

// To join again changes tokens, and nothing that others have added.
func TestJoinAgain(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	before := s.credential(readPath + "east").BearerToken
	s.hub.put(readPath+"east", merged(s.hub.get(readPath+"east"), "tier", "gold"))
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	after := s.hub.get(readPath + "east")
	if label(after, "tier") != "gold" || label(after, registration.MemberLabel) != "true" {
		t.Errorf("the registration is %v", after["metadata"])
	}
	if s.credential(readPath+"east").BearerToken == before {
		t.Error("the token is the former one")
	}
}

// A member that was reached before may still be so by its former credential: it counts once that is over.
func TestJoinAgainSettles(t *testing.T) {
	if settled < 15*time.Second {
		t.Errorf("settled is %v, less than --member-timeout and a period", settled)
	}
	for name, again := range map[string]bool{"a new name": false, "a known name": true} {
		s := newStage(t, "east")
		s.register("east", "uid-of-east")
		h := s.connected()
		h.settled = 100 * time.Millisecond
		begin := time.Now()
		if err := h.awaitReady(t.Context(), awaited{name: "east", again: again, timeout: time.Second, tell: func(Said) {}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begin); again && took < h.settled {
			t.Errorf("%s: Ready after %v", name, took)
		}
	}
}

// A Secret of another name that registers the cluster stays the one that does.
func TestJoinAgainByAnAlias(t *testing.T) {
	s := newStage(t, "east")
	s.register("old", "uid-of-east")
	s.hub.get(readPath + "old")["metadata"].(object)["annotations"].(object)[registration.NameAnnotation] = "east"
	s.says = func(string) Said { return Said{State: ready} }
	answers := s.hub.meets
	s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, apiPath+"east", apiPath+"old", 1)
		return answers(w, r)
	}
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "Secrets", []string{writePath + "old", readPath + "old"}, s.hub.has(readPath, writePath))
}

func merged(o object, key, value string) object {
	o["metadata"].(object)["labels"].(object)[key] = value
	return o
}

func TestJoinReadOnly(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(func(j *Join) { j.ReadOnly = true }, "east"); err != nil {
		t.Fatal(err)
	}
	if s.hub.get(writePath+"east") != nil {
		t.Error("a credential that writes is registered")
	}
	if got := s.members["east"].has("fleetscale-write", "fleetscale-tokens"); len(got) > 0 {
		t.Errorf("the member grants %q", got)
	}
	if !strings.Contains(s.progress.String(), "nobody renews it without the identity that writes: `kubectl fleetscale rotate east "+
		"--context east` before that") {
		t.Errorf("it is not told that nobody renews the token:\n%s", s.progress.String())
	}
}

// What was left writing does not stay so under another name: it is revoked, and a join to read only is refused.
func TestJoinReadOnlyWhereSomethingWrites(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	writes := s.credential(writePath + "east").BearerToken
	if err := s.leave("", ""); err != nil {
		t.Fatal(err)
	}
	readOnly := func(j *Join) { j.ReadOnly = true }
	if err := s.join(readOnly, "east"); err == nil || !strings.Contains(err.Error(), "whose tokens may still be in force") {
		t.Errorf("join = %v", err)
	}
	if err := s.leave("east", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.join(readOnly, "east"); err != nil {
		t.Fatal(err)
	}
	if s.admits("east", writes) {
		t.Error("the token that writes is accepted")
	}
}

// --revoke ends the tokens of both accounts, also of one that no Secret is of.
func TestRevokeOfBothAccounts(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	writes := s.credential(writePath + "east").BearerToken
	s.hub.mu.Lock()
	delete(s.hub.objects, writePath+"east")
	s.hub.mu.Unlock()
	if err := s.rotate(func(r *Rotate) { r.Revoke = true }, Target{"east", "east"}); err != nil {
		t.Fatal(err)
	}
	if s.admits("east", writes) {
		t.Error("the token that writes is accepted")
	}
}

// Where something is refused, nothing is changed anywhere.
func TestJoinRefused(t *testing.T) {
	tests := map[string]struct {
		edit func(*stage, *Join)
		want string
	}{
		"a loopback address": {func(_ *stage, j *Join) { j.AllowLocal = false }, "leads elsewhere from the hub"},
		"the hub": {func(s *stage, _ *Join) { s.members["east"] = s.hub },
			`context "east" leads to the hub itself`},
		"a name of another": {func(s *stage, _ *Join) { s.register("east", "uid-of-west") }, `the name "east" is taken`},
		"another name": {func(s *stage, _ *Join) { s.register("old", "uid-of-east") },
			`is a member already, as "old" (Secret "old")`},
		"another source": {func(s *stage, _ *Join) {
			s.hub.put("/api/v1/namespaces/fleetscale-system/configmaps/"+identitiesName,
				object{"data": object{"uid-of-east": `{"registration":"karmada/e","name":"e"}`}})
		}, `is a member already, as "e" (karmada/e)`},
		"a Secret that is no registration": {func(s *stage, _ *Join) {
			s.hub.put(readPath+"east", object{"metadata": object{"namespace": "fleetscale-clusters", "name": "east"}})
		}, "Secret fleetscale-clusters/east of the hub is there, and is no registration"},
		"half of a registration": {func(s *stage, _ *Join) {
			s.hub.put(writePath+"east", object{"metadata": object{"namespace": "fleetscale-clusters-write", "name": "east"}})
		}, "somebody else joins a cluster as east now, or was cut off; in that case `kubectl fleetscale leave east` first"},
		"a member that does not answer": {func(s *stage, _ *Join) { s.members["east"].http.Close() }, `context "east" does not tell its uid`},
		"two contexts, one cluster": {func(s *stage, j *Join) {
			s.members["copy"] = s.members["east"]
			j.Targets = append(j.Targets, Target{"copy", "copy"})
		}, "leads to the same cluster as that of"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "east")
			err := s.join(func(j *Join) { tc.edit(s, j) }, "east")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("join = %v, want %q", err, tc.want)
			}
			if len(s.hub.asked) > 0 && name != "two contexts, one cluster" {
				t.Errorf("the hub was changed: %q", s.hub.asked)
			}
		})
	}
}

// register has the hub hold a registration that somebody else wrote.
func (s *stage) register(name, uid string) {
	s.hub.put(readPath+name, object{"metadata": object{"namespace": "fleetscale-clusters", "name": name,
		"labels": object{registration.MemberLabel: "true"}, "annotations": object{UIDAnnotation: uid}}})
}

// Of two people who join clusters under one name at a time one is refused, and nothing is mixed.
func TestJoinMeanwhile(t *testing.T) {
	for name, tc := range map[string]struct {
		again bool
		at    string // where the other writes just before
		left  []string
	}{
		"a new name, the registration":   {at: readPath, left: []string{readPath + "east"}},
		"a new name, the other":          {at: writePath, left: []string{writePath + "east"}},
		"a known name, the registration": {again: true, at: readPath, left: []string{writePath + "east", readPath + "east"}},
		"a known name, the other":        {again: true, at: writePath, left: []string{writePath + "east", readPath + "east"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "east")
			if tc.again {
				if err := s.join(nil, "east"); err != nil {
					t.Fatal(err)
				}
			}
			answers := s.hub.meets
			s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path+"/", strings.TrimSuffix(tc.at, "/")) {
					namespace := strings.Split(tc.at, "/")[4]
					s.hub.put(tc.at+"east", object{"metadata": object{"namespace": namespace, "name": "east"}, "data": object{"kubeconfig": "b3RoZXI="}})
				}
				return answers(w, r)
			}
			err := s.join(nil, "east")
			s.keepsSecrets(err)
			if err == nil || !strings.Contains(err.Error(), "was made or changed by somebody else meanwhile") {
				t.Errorf("join = %v", err)
			}
			if got := s.hub.get(tc.at + "east")["data"].(object)["kubeconfig"]; got != "b3RoZXI=" {
				t.Errorf("the other's Secret holds %v", got)
			}
			fleettest.Same(t, "Secrets", tc.left, s.hub.has(readPath, writePath))
		})
	}
}

// What the hub does not reach has not joined; the command says why, and can be run again.
func TestJoinUnreachable(t *testing.T) {
	s := newStage(t, "east")
	s.says = func(string) Said { return Said{State: "Joining", Reason: "Timeout", Message: "no answer"} }
	err := s.join(func(j *Join) { j.Timeout = 50 * time.Millisecond }, "east")
	s.keepsSecrets(err)
	if err == nil || !strings.Contains(err.Error(), "not Ready after 50ms: Joining (Timeout: no answer)") {
		t.Fatalf("join = %v", err)
	}
	if s.out.Len() > 0 {
		t.Errorf("the output is %q", s.out.String())
	}
	s.says = func(string) Said { return Said{State: ready} }
	if err := s.join(nil, "east"); err != nil {
		t.Errorf("again: %v", err)
	}
}

// A member that issues tokens and accepts none is not registered.
func TestJoinWithTokensThatDoNotWork(t *testing.T) {
	s := newStage(t, "east")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var refusals atomic.Int32
	s.members["east"].meets = func(w http.ResponseWriter, r *http.Request) bool {
		if refused := !strings.HasSuffix(r.Header.Get("Authorization"), person); refused {
			if refusals.Add(1) == 3 { // so it was retried
				cancel()
			}
			refuse(w, http.StatusUnauthorized, "Unauthorized", "")
			return true
		}
		return false
	}
	err := s.joinIn(ctx, nil, "east")
	s.keepsSecrets(err)
	if err == nil || !strings.Contains(err.Error(), "nothing was written to the hub") || len(s.hub.asked) > 0 {
		t.Errorf("join = %v; the hub was asked %q", err, s.hub.asked)
	}
}

// A person who stops waiting leaves both Secrets of a cluster on the hub, or none, wherever that happens; to join again continues.
func TestJoinCutOff(t *testing.T) {
	for after := range 20 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			s := newStage(t, "east")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var mu sync.Mutex
			left := after
			cut := func(r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodGet {
					return
				}
				if left--; left < 0 {
					cancel()
				}
			}
			answers := s.hub.meets
			s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool { cut(r); return answers(w, r) }
			s.members["east"].meets = func(_ http.ResponseWriter, r *http.Request) bool { cut(r); return false }
			err := s.joinIn(ctx, nil, "east")
			s.keepsSecrets(err)
			if read, write := s.hub.get(readPath+"east"), s.hub.get(writePath+"east"); (read == nil) != (write == nil) {
				t.Errorf("the hub has one of the two Secrets: %v", s.hub.has("/secrets/"))
			}
			s.hub.meets, s.members["east"].meets = answers, nil
			if err := s.join(nil, "east"); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

func TestJoinDryRun(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(func(j *Join) { j.DryRun = DryRunServer }, "east"); err != nil {
		t.Fatal(err)
	}
	if got := append(s.hub.has("/secrets/"), s.members["east"].has("fleetscale")...); len(got) > 0 {
		t.Errorf("there is %q", got)
	}
	served := s.out.String()
	s.out.Reset()
	j := Join{Targets: []Target{{"east", "east"}}, AllowLocal: true, DryRun: DryRunClient}
	if err := j.Print(&s.out, s.connect, s.places()); err != nil {
		t.Fatal(err)
	}
	served = strings.ReplaceAll(served, "  annotations:\n    fleetscale.io/cluster-uid: uid-of-east\n", "  annotations: {}\n")
	const labels = "  labels:\n    fleetscale.io/member"
	printed := strings.ReplaceAll(s.out.String(), labels, "  annotations: {}\n"+labels)
	if diff := cmp.Diff(served, printed); diff != "" {
		t.Errorf("what the client prints is not what the servers judge (-server +client):\n%s", diff)
	}
	if !strings.Contains(printed, "token: "+redacted) {
		t.Error("the token is not redacted")
	}
}

// The hub is asked by its metrics where nobody serves the API of members.
func TestHubThatServesNoMembers(t *testing.T) {
	s := newStage(t, "east")
	header := "silent=east:Unreachable"
	asked := 0
	s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, apiPath):
			refuse(w, http.StatusNotFound, "NotFound", "")
		case r.URL.Path == "/apis/metrics.k8s.io/v1beta1/nodes" && r.URL.Query().Get("labelSelector") == "fleetscale.io/cluster=east":
			if asked++; asked > 2 {
				header = "absent=east"
			}
			w.Header().Set(fleet.CoverageHeader, header)
			reply(w, object{})
		default:
			return false
		}
		return true
	}
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.progress.String(), "east: Silent (Unreachable)\neast: Ready\n") {
		t.Errorf("progress:\n%s", s.progress.String())
	}
}

// Where another server has metrics.k8s.io too, as before a takeover, it counts that the member was Ready.
func TestHubThatServesNothingYet(t *testing.T) {
	s := newStage(t, "east")
	asked := 0
	s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, apiPath):
			refuse(w, http.StatusNotFound, "NotFound", "")
		case strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io/"):
			if asked++; asked == 2 {
				s.hub.put("/api/v1/namespaces/fleetscale-system/configmaps/"+identitiesName,
					object{"data": object{"uid-of-east": `{"registration":"secret/east","name":"east"}`}})
			}
			reply(w, object{})
		default:
			return false
		}
		return true
	}
	if err := s.join(nil, "east"); err != nil || asked < 2 {
		t.Errorf("join = %v after %d questions", err, asked)
	}
}

// 50 members whose every answer takes 20 ms join by one command within a minute, 8 at a time; one of them that the hub does not reach
// keeps no other waiting.
func TestFiftyJoin(t *testing.T) {
	const members, most = 50, time.Minute
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("sim-%02d", i))
	}
	s := newStage(t, names...)
	begin := time.Now()
	s.says = func(name string) Said {
		if name == "sim-00" {
			return Said{State: "Joining", Reason: "Timeout"}
		}
		return Said{State: ready}
	}
	var mu sync.Mutex
	begun, registered, atOnce := map[string]bool{}, 0, 0
	for name, m := range s.members {
		m.latency = 20 * time.Millisecond
		m.meets = func(http.ResponseWriter, *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			begun[name] = true
			atOnce = max(atOnce, len(begun)-registered)
			return false
		}
	}
	answers := s.hub.meets
	s.hub.meets = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "fleetscale-clusters/") {
			mu.Lock()
			registered++
			mu.Unlock()
		}
		return answers(w, r)
	}
	err := s.join(func(j *Join) { j.Timeout = 2 * time.Second }, names...)
	took := time.Since(begin)
	t.Logf("%d members joined in %.1f s", members-1, took.Seconds())
	if err == nil || !strings.Contains(err.Error(), "1 of 50 clusters failed\nsim-00: ") {
		t.Errorf("join = %v", err)
	}
	if got := strings.Count(s.out.String(), " joined\n"); got != members-1 || took > most {
		t.Errorf("%d joined in %v", got, took)
	}
	if atOnce > mostAtOnce {
		t.Errorf("%d members were changed at one time", atOnce)
	}
	if got := s.hub.has(writePath, readPath); len(got) != 2*members {
		t.Errorf("the hub has %d Secrets", len(got))
	}
	s.keepsSecrets(err)
}
