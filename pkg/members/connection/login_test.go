// SPDX-License-Identifier: Apache-2.0

//go:build unix

package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

const yields = `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"s3cret"}}'`

// script is a credential plugin. It is run in a directory of its own, whose name is $D.
func script(t *testing.T, text string) (plugin *clientcmdapi.ExecConfig, dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "plugin")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &clientcmdapi.ExecConfig{
		Command: file, APIVersion: "client.authentication.k8s.io/v1", Env: []clientcmdapi.ExecEnvVar{{Name: "D", Value: dir}},
	}, dir
}

func programFrom(t *testing.T, plugin *clientcmdapi.ExecConfig) program {
	t.Helper()
	p, err := programOf(plugin, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func eventually(t *testing.T, want string, now func() string) {
	t.Helper()
	often := time.NewTicker(5 * time.Millisecond)
	defer often.Stop()
	for late := time.After(30 * time.Second); now() != want; {
		select {
		case <-often.C:
		case <-late:
			t.Fatalf("%q, want %q", now(), want)
		}
	}
}

// runs is how often a script has written a line into the file runs.
func runs(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// letsIn is a cluster that lets those in who have the token, and counts the others.
func letsIn(t *testing.T, token string) (address string, refused *atomic.Int32) {
	t.Helper()
	refused = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	return server.URL, refused
}

func connectBy(t *testing.T, o Options, plugin *clientcmdapi.ExecConfig, address string) *Connection {
	t.Helper()
	c, err := NewPeer("east", o, nil, func(fleet.Reason) {}, nil).Connect(registration.Endpoint{
		Config: &rest.Config{Host: address, ExecProvider: plugin},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.login.end)
	return c
}

// Members whose plugins have one command line do not wait for each other: here the first run of it hangs.
func TestPluginThatHangsHoldsUpItsOwnMember(t *testing.T) {
	plugin, dir := script(t, `if mkdir $D/first 2>/dev/null; then exec sleep 600; fi; `+yields)
	address, _ := letsIn(t, "s3cret")
	options := Options{AllowLocal: true, Timeout: time.Minute}.WithDefaults()
	east, west := connectBy(t, options, plugin, address), connectBy(t, options, plugin, address)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, _, err := east.Get(ctx, "/"); failed <- err }()
	eventually(t, "it hangs", func() string {
		if _, err := os.Stat(filepath.Join(dir, "first")); err != nil {
			return err.Error()
		}
		return "it hangs"
	})
	if _, code, err := west.Get(t.Context(), "/"); code != http.StatusOK || err != nil {
		t.Errorf("the other member: %d, %v", code, err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "waiting for the credential plugin") {
		t.Errorf("its own member: %v", err)
	}
}

// A plugin ends in time, and so does what it has started, though that holds its output open.
func TestPluginThatDoesNotReturn(t *testing.T) {
	plugin, dir := script(t, `sleep 600 & echo $! >$D/child; wait`)
	p := programFrom(t, plugin)
	var text []byte
	for p.time = 300 * time.Millisecond; len(text) == 0 && p.time < time.Minute; p.time *= 2 { // until that is enough for it to begin
		began := time.Now()
		_, err := p.run(t.Context())
		if want := fmt.Sprintf("running the credential plugin: it does not return within %v", p.time); err == nil || err.Error() != want {
			t.Fatalf("error = %v, want %s", err, want)
		}
		if took := time.Since(began); took > p.time+30*time.Second {
			t.Fatalf("it took %v", took)
		}
		text, _ = os.ReadFile(filepath.Join(dir, "child"))
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "ended", func() string { return stateOf(child) })
}

func stateOf(process int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if syscall.Kill(process, 0) != nil || strings.Contains(string(stat), ") Z ") { // ended, and nobody waits for it
		return "ended"
	}
	return "it runs"
}

// What a plugin leaves behind ends with it, also when it has done what it should.
func TestPluginThatLeavesOneBehind(t *testing.T) {
	plugin, dir := script(t, `sleep 600 >/dev/null 2>&1 & echo $! >$D/child; `+yields)
	if c, err := programFrom(t, plugin).run(t.Context()); err != nil || c.token != "s3cret" {
		t.Fatal(c, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "ended", func() string { return stateOf(child) })
}

// What a plugin says of a failure is told, within bounds.
func TestWhatAPluginComplainsOf(t *testing.T) {
	const failed = "running the credential plugin: exit status 3"
	for text, want := range map[string]string{
		`exit 3`: failed,
		`echo first >&2; printf 'the \033 role\tis unknown\n\n' >&2; exit 3`: failed + ": the \ufffd role is unknown",
		`head -c 3000000 /dev/zero | tr '\0' x >&2; exit 3`:                  failed + ": " + strings.Repeat("x", 255) + "…",
	} {
		plugin, _ := script(t, text)
		if _, err := programFrom(t, plugin).run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var c complaint
	for range 1000 {
		if n, err := c.Write(make([]byte, 1000)); n != 1000 || err != nil || len(c.text) > mostComplaint {
			t.Fatalf("%d, %v, %d bytes are kept", n, err, len(c.text))
		}
	}
}

// The administrator's own plugin has what the program has.
func TestTrustedPluginInheritsTheEnvironment(t *testing.T) {
	t.Setenv("OF_THE_PROGRAM", "x")
	plugin, _ := script(t, `[ "$OF_THE_PROGRAM" = x ] || exit 3; `+yields)
	address, _ := letsIn(t, "s3cret")
	for _, trusted := range []bool{true, false} {
		c, err := NewPeer("east", Options{AllowLocal: true, Timeout: time.Minute}.WithDefaults(), nil, func(fleet.Reason) {}, nil).
			Connect(registration.Endpoint{Config: &rest.Config{Host: address, ExecProvider: plugin}, Trusted: trusted})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Get(t.Context(), "/"); (err == nil) != trusted {
			t.Errorf("trusted: %v: %v", trusted, err)
		}
	}
}

// The time that a plugin takes is not taken for that of the way to the cluster.
func TestPluginThatIsSlowDoesNotMoveTheClock(t *testing.T) {
	plugin, _ := script(t, `sleep 4; `+yields)
	address, _ := letsIn(t, "s3cret")
	c := connectBy(t, Options{AllowLocal: true, Timeout: time.Minute}.WithDefaults(), plugin, address)
	if _, _, err := c.Get(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	if offset, known := c.wire.meter.clock.offset(); !known || offset.Abs() > 1500*time.Millisecond {
		t.Errorf("offset %v, known: %v", offset, known)
	}
}

// So many run at once, of all members; who waits for a place is served when one has ended.
func TestFewPluginsRunAtOnce(t *testing.T) {
	plugin, dir := script(t, `echo >>$D/runs; while [ ! -e $D/released ]; do sleep 0.02; done; `+yields)
	p, places := programFrom(t, plugin), make(chan struct{}, 2)
	var logins []*login
	var waiting sync.WaitGroup
	for range 4 {
		l := &login{program: p, places: places, patience: time.Minute}
		logins = append(logins, l)
		waiting.Go(func() {
			if c, err := l.credential(t.Context()); err != nil || c.token != "s3cret" {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
	eventually(t, "4 began, 2 run", func() string {
		began := 0
		for _, l := range logins {
			l.mu.Lock()
			if l.running != nil {
				began++
			}
			l.mu.Unlock()
		}
		return fmt.Sprintf("%d began, %d run", began, runs(t, dir))
	})
	if err := os.WriteFile(filepath.Join(dir, "released"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	if n := runs(t, dir); n != 4 || len(places) != 0 {
		t.Errorf("%d runs, and %d places are held", n, len(places))
	}
	o := Options{}.WithDefaults()
	if aws := o.plugins.of("aws"); cap(aws) != mostPlugins || o.WithDefaults().plugins.of("aws") != aws || o.plugins.of("gke") == aws {
		t.Errorf("%d places of all members with one program, or those of another one", cap(aws))
	}
}

// All requests that need a credential wait for one run, and go on without it when they are told to; a failure is not repeated at once.
func TestRunsOfAPlugin(t *testing.T) {
	plugin, dir := script(t, `echo >>$D/runs; while [ ! -e $D/released ]; do sleep 0.02; done; exit 3`)
	l := &login{program: programFrom(t, plugin), places: make(chan struct{}, 8), patience: time.Minute}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := l.credential(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want that of the request", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "released"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := l.credential(t.Context()); err == nil || err.Error() != "running the credential plugin: exit status 3" {
			t.Errorf("error = %v, want that of the plugin", err)
		}
	}
	if n := runs(t, dir); n != 1 {
		t.Errorf("%d runs", n)
	}
	l.at = l.at.Add(-pluginRest)
	_, _ = l.credential(t.Context())
	if n := runs(t, dir); n != 2 {
		t.Errorf("%d runs when it has rested", n)
	}
}

func TestWhenAPluginRuns(t *testing.T) {
	now := time.Now()
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	for name, tc := range map[string]struct {
		login *login
		want  bool
	}{
		"never yet":                         {&login{}, true},
		"it yielded one that lasts":         {&login{last: &credential{}, at: at(time.Hour)}, false},
		"one that is not to be renewed":     {&login{last: &credential{}, renewal: at(-1), at: at(time.Hour)}, false},
		"one that is to be renewed":         {&login{last: &credential{}, renewal: now, at: at(pluginRest)}, true},
		"one that is, but the plugin rests": {&login{last: &credential{}, renewal: now, at: at(pluginRest - 1)}, false},
		"one that was refused":              {&login{last: &credential{}, refused: true, at: at(pluginRest)}, true},
		"one that was refused at once":      {&login{last: &credential{}, refused: true, at: at(pluginRest - 1)}, false},
		"it failed":                         {&login{at: at(pluginRest)}, true},
		"it failed just now":                {&login{at: at(pluginRest - 1)}, false},
		"the connection has ended":          {&login{ended: true}, false},
	} {
		if got := tc.login.due(now); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestWhenACredentialIsRenewed(t *testing.T) {
	now := time.Now()
	for life, want := range map[time.Duration]time.Duration{
		time.Hour: 58 * time.Minute, 8 * time.Minute: 6 * time.Minute, time.Minute: 45 * time.Second, 0: 0, -time.Hour: -time.Hour,
	} {
		if got := (&credential{expires: now.Add(life)}).renewal(now).Sub(now); got != want {
			t.Errorf("one that lasts %v: after %v, want %v", life, got, want)
		}
	}
	if got := (&credential{}).renewal(now); !got.IsZero() {
		t.Errorf("one that does not expire: %v", got)
	}
	l := &login{}
	l.finish(&credential{expires: now.Add(time.Hour)}, nil)
	if want := now.Add(58 * time.Minute); !l.renewal.Equal(want) {
		t.Errorf("after a run: %v, want %v", l.renewal, want)
	}
}

// What a request is sent with while the plugin does not run.
func TestPresentCredential(t *testing.T) {
	now := time.Now()
	lasts, expired := &credential{expires: now.Add(1)}, &credential{expires: now}
	for name, tc := range map[string]struct {
		login *login
		want  *credential
		err   error
	}{
		"it lasts":                            {login: &login{last: lasts}, want: lasts},
		"it lasts, and the last run failed":   {login: &login{last: lasts, err: errPrintsMore}, want: lasts},
		"it has expired":                      {login: &login{last: expired, err: errPrintsMore}, err: errPrintsMore},
		"it was expired when it was yielded":  {login: &login{last: expired}, want: expired},
		"there is none, since the run failed": {login: &login{err: errPrintsMore}, err: errPrintsMore},
	} {
		if got, err := tc.login.present(now); got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A credential is renewed while requests are sent with it, and a run that fails costs them nothing.
func TestRenewalKeepsNobodyWaiting(t *testing.T) {
	for name, expires := range map[string]time.Time{"it soon expires": time.Now().Add(time.Minute), "the server refused it": {}} {
		t.Run(name, func(t *testing.T) {
			plugin, dir := script(t, `echo >>$D/runs; while [ ! -e $D/released ]; do sleep 0.02; done
[ $(wc -l <$D/runs) -gt 1 ] || exit 3; `+yields)
			last := &credential{token: "old", expires: expires}
			l := &login{program: programFrom(t, plugin), places: make(chan struct{}, 1), last: last, renewal: expires.Add(-time.Hour)}
			t.Cleanup(l.end)
			if expires.IsZero() {
				l.renewal = expires
				if l.refuse(t.Context(), last); l.running == nil {
					t.Error("the plugin is not run at once")
				}
			}
			now := func() string {
				c, err := l.credential(t.Context())
				if err != nil {
					return err.Error()
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				return fmt.Sprintf("%s, %d runs, running: %v", c.token, runs(t, dir), l.running != nil)
			}
			eventually(t, "old, 1 runs, running: true", now)
			if err := os.WriteFile(filepath.Join(dir, "released"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			eventually(t, "old, 1 runs, running: false", now)
			l.mu.Lock()
			l.at = l.at.Add(-pluginRest)
			l.mu.Unlock()
			if expires.IsZero() {
				if got, want := now(), "old, 1 runs, running: false"; got != want {
					t.Errorf("after a run that failed: %s, want %s until it is refused again", got, want)
				}
				l.refuse(t.Context(), last)
			}
			eventually(t, "s3cret, 2 runs, running: false", now)
		})
	}
}

// A request that has nothing else waits for the plugin, and says so within its deadline.
func TestWaitForAPluginIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for deadline, patience := range map[time.Duration]time.Duration{5 * time.Second: time.Hour, time.Hour: 5 * time.Second} {
			l := &login{running: &run{done: make(chan struct{})}, patience: patience, last: &credential{expires: time.Now()}}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			began := time.Now()
			if _, err := l.credential(ctx); !errors.Is(err, errPluginWaited) {
				t.Errorf("error = %v", err)
			}
			if took := time.Since(began); took != 4500*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			cancel()
		}
	})
	plugin, _ := script(t, `exec sleep 600`)
	address, _ := letsIn(t, "s3cret")
	c := connectBy(t, Options{AllowLocal: true, Timeout: time.Second}.WithDefaults(), plugin, address)
	for name, client := range map[string]rest.Interface{"calls": c.Client(), "watches": c.WatchClient()} {
		silence, _ := fleet.Classify(client.Get().AbsPath("/").Do(t.Context()).Error())
		want := fleet.Silencef(fleet.ReasonTimeout, "the credential plugin has not returned, or has not had its turn, within the deadline")
		if silence == nil || *silence != *want {
			t.Errorf("%s: %v, want %v", name, silence, want)
		}
	}
}

// A token that the cluster does not accept is replaced by what the next run yields.
func TestTokenThatIsRefused(t *testing.T) {
	plugin, dir := script(t, `echo >>$D/runs; token=old; [ $(wc -l <$D/runs) -gt 1 ] && token=new
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$token'"}}'`)
	address, refused := letsIn(t, "new")
	c := connectBy(t, Options{AllowLocal: true, Timeout: time.Minute}.WithDefaults(), plugin, address)
	get := func() string {
		_, code, err := c.Get(t.Context(), "/")
		return fmt.Sprintf("%d, %v, %d runs", code, err, runs(t, dir))
	}
	for range 3 {
		if got, want := get(), "401, <nil>, 1 runs"; got != want {
			t.Errorf("while the plugin rests: %s, want %s", got, want)
		}
	}
	c.login.mu.Lock()
	c.login.at = c.login.at.Add(-pluginRest)
	c.login.mu.Unlock()
	eventually(t, "200, <nil>, 2 runs", get)
	before := refused.Load()
	if got, want := get(), "200, <nil>, 2 runs"; got != want || refused.Load() != before {
		t.Errorf("with the new one: %s, want %s", got, want)
	}
}

// A connection that has ended runs no plugin, and the one that it runs is ended.
func TestPluginOfAConnectionThatHasEnded(t *testing.T) {
	plugin, dir := script(t, `echo >>$D/runs; exec sleep 600`)
	l := &login{program: programFrom(t, plugin), places: make(chan struct{}, 1), patience: time.Hour}
	l.program.time = time.Hour
	failed := make(chan error, 1)
	go func() { _, err := l.credential(t.Context()); failed <- err }()
	eventually(t, "1", func() string { return strconv.Itoa(runs(t, dir)) })
	l.end()
	select {
	case err := <-failed:
		if !errors.Is(err, errReplaced) {
			t.Errorf("error = %v, want that the connection was replaced", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it runs")
	}
	l.at = time.Time{}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if _, err := (loggedIn{l, nil}).RoundTrip(request); err == nil {
		t.Error("a request was sent")
	}
	if n := runs(t, dir); n != 1 {
		t.Errorf("%d runs", n)
	}
	if _, err := (loggedIn{&login{ended: true}, nil}).RoundTrip(request); !errors.Is(err, errReplaced) {
		t.Errorf("error = %v, want that the connection was replaced", err)
	}
}

// A plugin that is not run need not be there.
func TestPluginBesideOtherCredentials(t *testing.T) {
	peer := NewPeer("east", Options{}.WithDefaults(), nil, func(fleet.Reason) {}, nil)
	plugin := &clientcmdapi.ExecConfig{Command: "no-such-plugin", APIVersion: "client.authentication.k8s.io/v1"}
	if l, err := peer.login(&rest.Config{ExecProvider: plugin, BearerToken: "t"}, false); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := peer.login(&rest.Config{ExecProvider: plugin}, false); err == nil {
		t.Error("a plugin that is not there can be run")
	}
}

// Connections know only the certificate that they began with: they are closed when another one takes its place, also if a run failed
// in between, and when there was none before.
func TestCertificateThatIsRenewed(t *testing.T) {
	certificate := func(text string) *credential {
		return &credential{certificate: &tls.Certificate{Certificate: [][]byte{[]byte(text)}}}
	}
	closed := 0
	l := &login{renewed: func() { closed++ }}
	for _, step := range []struct {
		yields *credential
		closed int
	}{
		{certificate("a"), 0}, {certificate("a"), 0}, {certificate("b"), 1}, {&credential{token: "t"}, 2}, {&credential{token: "u"}, 2},
		{certificate("b"), 3}, {nil, 3}, {certificate("c"), 4},
	} {
		if step.yields == nil {
			l.finish(nil, errPrintsMore)
			continue
		}
		l.finish(step.yields, nil)
		if got, err := l.certificate(); got != step.yields.certificate || err != nil || closed != step.closed {
			t.Errorf("certificate %v, %v, closed %d times, want %d", got, err, closed, step.closed)
		}
	}
	l = &login{err: errPrintsMore}
	if _, err := l.certificate(); !errors.Is(err, errPrintsMore) {
		t.Errorf("error = %v", err)
	}
}

func TestWhatAPluginPrints(t *testing.T) {
	const (
		kind    = `"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"`
		noJSON  = "it is no JSON of an ExecCredential"
		another = "it is no ExecCredential of client.authentication.k8s.io/v1, as exec has it"
		nothing = "it has neither a token nor a certificate and key"
		noPair  = "its certificate and key are no matching pair in PEM"
	)
	p := program{apiVersion: "client.authentication.k8s.io/v1"}
	for text, want := range map[string]string{
		`{` + kind + `,"status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}}`: "",

		`s3cret`: noJSON,
		`{` + kind + `,"status":{"token":["s3cret"]}}`:                                  noJSON,
		`{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential"}`: another,
		`{"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret"}`:              another,
		`{` + kind + `}`:             nothing,
		`{` + kind + `,"status":{}}`: nothing,
		`{` + kind + `,"status":{"clientCertificateData":"s3cret"}}`: noPair,
		`{` + kind + `,"status":{"clientKeyData":"s3cret"}}`:         noPair,
	} {
		got, err := p.read([]byte(text))
		said := ""
		if err != nil {
			said = err.Error()
		} else if got.token != "t" || got.expires.Year() != 2030 {
			t.Errorf("read %v", got)
		}
		if said != want {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
	plugin, _ := script(t, `head -c 1048577 /dev/zero`)
	if _, err := programFrom(t, plugin).run(t.Context()); !errors.Is(err, errPrintsMore) {
		t.Errorf("it printed more than may be: %v", err)
	}
	plugin.APIVersion = "v1"
	const want = `the apiVersion of exec must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, not "v1"`
	if _, err := programOf(plugin, false); err == nil || err.Error() != want {
		t.Errorf("error = %v", err)
	}
}
