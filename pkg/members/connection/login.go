// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	// pluginRest is how long a plugin is not run again after it failed, or yielded what is refused or expired: else it would be for each
	// request.
	pluginRest = 5 * time.Second
	// renewedBefore is how long before a credential expires another one is asked for, if it lasts long enough: time for the runs of some
	// other members that hang before it, and for some that fail.
	renewedBefore = 2 * time.Minute
	// ofItsLife is which part of its time a credential of a short life is renewed before. One that a plugin yields again, since it
	// keeps it until it expires, has a short life, too: it is not asked for at each rest.
	ofItsLife = 4
)

// login has a plugin run when a credential is needed, or soon will be: one run at a time, for all requests that wait for it, and without
// those that no longer do. They wait only while there is nothing that has not expired. What a server refuses is replaced, and sent until
// then: an adapter in a cluster that says 401 to all would have everything else there wait for each run.
type login struct {
	program program
	places  chan struct{} // of all members with this program
	// patience bounds the wait of a request for which its context does not.
	patience time.Duration
	// renewed is called when another certificate takes the place of one: connections know only the first.
	renewed func()

	mu      sync.Mutex
	last    *credential // of the last run that did not fail; nil: none yet
	renewal time.Time   // when last is to be renewed; zero: never
	err     error       // of the last run
	at      time.Time   // when that ended
	refused bool        // the server did not accept last
	ended   bool
	running *run // nil: none
}

// run is one of a plugin, or the wait for its place.
type run struct {
	done chan struct{}
	stop context.CancelFunc
}

// login is nil if the configuration names no plugin, or has other credentials; it does not from then on.
func (p *Peer) login(config *rest.Config, trusted bool) (*login, error) {
	plugin := config.ExecProvider
	config.ExecProvider = nil
	if plugin == nil || hasOther(config) { // which client-go prefers, too
		return nil, nil
	}
	runs, err := programOf(plugin, trusted)
	if err != nil {
		return nil, err
	}
	connections := connrotation.NewDialer(config.Dial)
	config.Dial = connections.DialContext
	return &login{
		program: runs, places: p.options.plugins.of(runs.path), patience: p.options.Timeout, renewed: connections.CloseAll,
	}, nil
}

func hasOther(c *rest.Config) bool {
	return c.BearerToken != "" || c.BearerTokenFile != "" || c.Username != "" || len(c.CertData) > 0 || c.CertFile != ""
}

// before has next send requests with what the plugin yields.
func (l *login) before(next http.RoundTripper) http.RoundTripper {
	if l == nil {
		return next
	}
	return loggedIn{l, next}
}

// credential returns what a request is to be sent with.
func (l *login) credential(ctx context.Context) (*credential, error) {
	l.mu.Lock()
	now := time.Now()
	l.renew(ctx, now)
	r := l.running
	if r == nil || l.last.lasts(now) {
		defer l.mu.Unlock()
		return l.present(now)
	}
	l.mu.Unlock()
	if err := l.wait(ctx, r); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.present(time.Now())
}

// present is nil, without an error, if the plugin will not be run. One that was expired when the last run yielded it is sent: a clock may
// be wrong. The lock is held.
func (l *login) present(now time.Time) (*credential, error) {
	if l.err != nil && !l.last.lasts(now) {
		return nil, l.err
	}
	return l.last, nil
}

var errPluginWaited error = fleet.Silencef(fleet.ReasonTimeout,
	"the credential plugin has not returned, or has not had its turn, within the deadline")

// wait ends before the deadline: past it, net/http replaces what it is told by words of its own.
func (l *login) wait(ctx context.Context, r *run) error {
	patience := l.patience
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline))
	}
	timer := time.NewTimer(patience * 9 / 10)
	defer timer.Stop()
	select {
	case <-r.done:
		return nil
	case <-timer.C:
		return errPluginWaited
	case <-ctx.Done():
		return fmt.Errorf("waiting for the credential plugin: %w", ctx.Err())
	}
}

// renew begins a run if one is due. The lock is held.
func (l *login) renew(ctx context.Context, now time.Time) {
	if l.running == nil && l.due(now) {
		l.running = l.begin(ctx)
	}
}

// due is true when the plugin is to be run, unless it is running.
func (l *login) due(now time.Time) bool {
	if l.ended || now.Sub(l.at) < pluginRest {
		return false
	}
	return l.last == nil || l.refused || !l.renewal.IsZero() && !now.Before(l.renewal)
}

func (l *login) begin(ctx context.Context) *run {
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx)) // others may wait for it, too
	r := &run{make(chan struct{}), stop}
	go func() {
		defer stop()
		c, err := l.take(lasting)
		if err != nil && lasting.Err() != nil {
			err = errReplaced // which is why it was ended
		}
		l.finish(c, err)
		close(r.done)
	}()
	return r
}

// take runs the plugin once there is a place.
func (l *login) take(ctx context.Context) (*credential, error) {
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
		return l.program.run(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finish keeps what there was when a run failed: the server may accept it for longer than it said.
func (l *login) finish(c *credential, err error) {
	l.mu.Lock()
	before := l.last
	l.err, l.at, l.refused, l.running = err, time.Now(), false, nil
	if err == nil {
		l.last, l.renewal = c, c.renewal(l.at)
	}
	l.mu.Unlock()
	if err == nil && before != nil && differs(before.certificate, c.certificate) {
		l.renewed()
	}
}

// lasts is true of a credential that has not expired.
func (c *credential) lasts(now time.Time) bool {
	return c != nil && (c.expires.IsZero() || now.Before(c.expires))
}

// renewal is when a credential that is yielded now is to be renewed; zero: never.
func (c *credential) renewal(now time.Time) time.Time {
	if c.expires.IsZero() {
		return time.Time{}
	}
	return c.expires.Add(-max(0, min(renewedBefore, c.expires.Sub(now)/ofItsLife)))
}

// differs is true also if only one is a certificate: a connection that was begun without one is not let in by one.
func differs(before, now *tls.Certificate) bool {
	if before == nil || now == nil {
		return before != now
	}
	return !bytes.Equal(before.Certificate[0], now.Certificate[0])
}

// refuse has what a server did not accept replaced.
func (l *login) refuse(ctx context.Context, c *credential) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == c {
		l.refused = true
		l.renew(ctx, time.Now())
	}
}

// certificate is what a connection is begun with: that of the request which needs it.
func (l *login) certificate() (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.present(time.Now())
	if c == nil {
		return nil, err
	}
	return c.certificate, nil
}

// end has no plugin run any more.
func (l *login) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; l.running != nil {
		l.running.stop()
	}
}

// loggedIn sends requests with what a plugin yields.
type loggedIn struct {
	login *login
	next  http.RoundTripper
}

// RoundTrip is as http.RoundTripper has it.
func (l loggedIn) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := l.login.credential(req.Context())
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errReplaced
	}
	if c.token != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := l.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		l.login.refuse(req.Context(), c)
	}
	return resp, err
}
