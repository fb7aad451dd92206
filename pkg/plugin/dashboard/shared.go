// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// DefaultMostPages is how many pages are kept.
	DefaultMostPages = 20
	// mostOfReader is how many of them one reader has: a token's for each namespace that is shown.
	mostOfReader = 4
	// mostLogins is how many logins are kept, which are small; a reader has as many as pages.
	mostLogins = 1000
	// idle is how long a page that nobody has open is kept, and a login that nobody uses.
	idle = 15 * time.Minute
	// life is how long any of them is: a working day.
	life = 8 * time.Hour
	// mostAsked is for how many tokens the hub is asked whose they are at one time.
	mostAsked = 8
	// mostReading is how many records are read from the hub at one time: half of what it answers of these.
	mostReading = 8
	// mostDeciding is how many pages have what was recorded decided again at one time, which may take some 200 MiB; each has one such question
	// answered at a time.
	mostDeciding = 1
	// sweeps is how often what has ended is removed.
	sweeps = time.Minute
)

// Shared is the page for many readers. It has no rights on the hub: each reader brings a token, with which the hub is asked for all that
// this reader sees, and nothing that was read with one token is shown to who brings another.
type Shared struct {
	hub   *rest.Config
	views *pool[*view]
	// logins are tokens that were given with a form, by what browsers were given for them.
	logins *pool[login]

	opening                   singleflight.Group
	asking, reading, deciding chan struct{}
	// namespaces are queues of who reads records: the hub answers for one of each at a time, and has others ask again after seconds.
	namespaces queues
	ctx        context.Context //nolint:containedctx // views outlive the requests that open them, and end with it
	running    sync.WaitGroup
}

// sharedRoom is that of one page of many: of a few clusters and a decision in 15 s, some days.
var sharedRoom = room{seen: mostWeight / 4, open: 4, bytes: 1 << 20, values: 1 << 16}

// view is what one token shows.
type view struct {
	token key // a hash
	site  *site
}

// login is a token that was given with a form.
type login struct{ token string }

// NewShared returns the page of a hub. Of its configuration only the way to the hub is used, and it must verify that. Most is for how many
// pages there is room. What the page keeps ends with ctx.
func NewShared(ctx context.Context, hub *rest.Config, most int) (*Shared, error) {
	way := rest.AnonymousClientConfig(hub)
	address, _, err := rest.DefaultServerUrlFor(way)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the address of the hub: %w", err)
	case address.Scheme != "https" || way.Insecure:
		return nil, errors.New("the hub must be reached by https, and its certificate verified: tokens of readers are sent there")
	}
	return newShared(ctx, way, most, time.Now), nil
}

func newShared(ctx context.Context, hub *rest.Config, most int, now func() time.Time) *Shared {
	of := func(most int) limits { return limits{most: most, mostOfReader: mostOfReader, idle: idle, life: life} }
	return &Shared{
		hub: hub, ctx: ctx,
		asking: make(chan struct{}, mostAsked), reading: make(chan struct{}, mostReading), deciding: make(chan struct{}, mostDeciding),
		views: newPool[*view](of(most), now), logins: newPool[login](of(mostLogins), now),
	}
}

// Run ends what nobody uses, until the context of s ends, and returns once nothing is watched any more.
func (s *Shared) Run() {
	next := time.NewTicker(sweeps)
	defer next.Stop()
	for {
		select {
		case <-s.ctx.Done():
			s.views.sweep() // from here on none is added
			s.running.Wait()
			return
		case <-next.C:
			s.views.sweep()
			s.logins.sweep()
		}
	}
}

// secret is a token, and whether it came by a login.
type secret struct {
	token string
	login bool
}

func (c secret) hash() key { return sha256.Sum256([]byte(c.token)) }

// view is the key of what is shown for it. A page tells whether there is a login to end, so those by a login are others.
func (c secret) view(namespace string) key {
	return sha256.Sum256(fmt.Appendf(nil, "%t/%s/%s", c.login, url.PathEscape(namespace), c.token))
}

// enter returns what is shown for a token, which is released after use. Whose the token is the hub is asked where nothing is kept for it:
// what is kept reads members every few seconds, and ends when the hub refuses that.
func (s *Shared) enter(ctx context.Context, c secret, namespace string) (*held[*view], error) {
	k := c.view(namespace)
	for range 2 {
		if v, found := s.views.take(k); found {
			return v, nil
		}
		opened := s.opening.DoChan(string(k[:]), func() (any, error) { return nil, s.open(c, namespace, k) })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case result := <-opened:
			if result.Err != nil {
				return nil, result.Err
			}
		}
	}
	return nil, errFull // it was ended as soon as it was opened
}

// open begins to read what a token shows.
func (s *Shared) open(c secret, namespace string, k key) error {
	name, err := s.whose(c)
	if err != nil {
		return err
	}
	config := asReader(s.hub, c.token, func() { s.doubt(c) })
	hub, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("preparing to reach the hub: %w", err)
	}
	return s.views.put(s.ctx, k, name, func(ctx context.Context) *view {
		seen := newSeen(s.hub.Host, s.views.now)
		seen.most = sharedRoom.seen
		seen.reader = &reader{Name: name, Login: c.login}
		w := &watcher{hub: hub, namespace: namespace, seen: seen}
		s.running.Go(func() { w.run(ctx) })
		return &view{token: c.hash(), site: &site{
			seen: seen, hub: hub, pasts: newHistories(ctx, askingHub(config), sharedRoom, s.readingTurns()),
			own: turns{make(chan struct{}, 1)}, turns: turns{s.deciding},
		}}
	})
}

// readingTurns are those of a page: one of its own, one of all that have records of that namespace read, and then one of all. So nobody has
// the last one for as long as others of their namespace read.
func (s *Shared) readingTurns() turnsOf {
	own := make(chan struct{}, 1)
	return func(namespace string) (turns, func()) {
		queue, done := s.namespaces.join(namespace)
		return turns{own, queue, s.reading}, done
	}
}

// doubt asks the hub again whose a token is, which was refused: that may have been said by what the hub asks, such as the metrics adapter.
func (s *Shared) doubt(c secret) {
	k := c.hash()
	s.opening.DoChan("whose"+string(k[:]), func() (any, error) { return s.whose(c) })
}

// whose asks the hub whose a token is, and ends all that is of one that it refuses. Few are asked about at one time.
func (s *Shared) whose(c secret) (string, error) {
	ctx, cancel := context.WithTimeout(s.ctx, askTimeout)
	defer cancel()
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", errFull
	}
	name, err := whose(ctx, asReader(s.hub, c.token, func() { s.forget(c.hash()) }))
	if err != nil && !errors.Is(err, errRefused) {
		klog.FromContext(ctx).V(2).Info("The hub did not say whose a token is", "reason", err.Error())
	}
	return name, err
}

// forget ends all that is of a token.
func (s *Shared) forget(token key) {
	s.logins.drop(func(l login) bool { return sha256.Sum256([]byte(l.token)) == token })
	s.views.drop(func(v *view) bool { return v.token == token })
}
