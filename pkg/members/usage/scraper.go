// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Source is one member: its name, why asking it is useless (nil when it is
// not), and a client for its metrics.k8s.io. Another Source under the same
// name is another cluster.
type Source interface {
	Name() string
	Silence() error
	MetricsClient() rest.Interface
	// Reading decodes its answers.
	Reading() *connection.Reading
}

// A scraper asks one member.
type scraper struct {
	source  Source
	period  time.Duration
	timeout time.Duration
	metrics *Metrics
	// ctx ends when the member leaves. Attempts outlive the client who caused
	// them, since others wait for them too.
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{}
	failed chan struct{}      // a new question may be without an answer
	once   singleflight.Group // questions that are not kept
	// running counts what was started, for the store to wait for.
	running *sync.WaitGroup

	memory *memory.Memory
	scope  tenancy.Scope

	mu      sync.Mutex
	targets map[key]*target
	// fresh are those that wait to be asked for the first time, and asking how many do so: see fresh.go.
	fresh  []*target
	asking int
	// listing is true while one of them asks for a list of all, for which namespaces among the fresh wait.
	listing bool
	// labelling is by resource: a member may send labels of nodes and none of pods.
	labelling map[string]labelling
	maxAge    time.Duration // at least as configured; longer for a member that measures slowly
	locked    bool          // for the metrics
	ready     bool          // as last seen by the store

	beat     *beat // the running goroutine's own
	together together
	lists    chan struct{} // a token for each list of all that is asked for, of any member
	latest   latest
}

// run asks for the hot targets once per period, until the member leaves.
func (s *scraper) run() {
	timer := time.NewTimer(rand.N(s.period)) // members that joined together are asked apart
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		s.round()
		signal(s.failed)
		timer.Reset(time.Until(s.beat.next))
	}
}

// wakeUp starts a round now. It never blocks.
func (s *scraper) wakeUp() { signal(s.wake) }

// signal is for a channel with room for one: more say no more.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// round asks for all targets. One of them, the pilot, goes first: if the
// member is down, or has not measured since, the others need not be asked.
func (s *scraper) round() {
	targets := s.hotTargets()
	defer s.ownParts(targets)
	if len(targets) == 0 {
		s.beat.interrupted(time.Now())
		return
	}
	pilot, others := choosePilot(targets)
	first, c := s.ask(pilot, true)
	if first.err != nil {
		s.beat.interrupted(first.received)
		if isDown(first.err) {
			s.failAll(others, first)
			return
		}
		s.askAll(others, true)
		s.together.nextRound()
		return
	}
	q := question{sent: first.sent, received: first.received, changed: c.newer && c.tells}
	if c.tells && !q.changed && s.askSoonAgain(q) {
		return
	}
	rest := s.askAll(others, true)
	s.together.nextRound()
	if !c.tells {
		q.changed = rest.newer
	}
	s.observe(q)
}

// askSoonAgain observes an unchanged answer if that makes the beat ask again
// long before a period has gone by.
func (s *scraper) askSoonAgain(q question) bool {
	trial := *s.beat
	trial.observe(q)
	if trial.next.Sub(q.sent) >= s.period/2 {
		return false
	}
	s.observe(q)
	return true
}

func (s *scraper) observe(q question) {
	if q.changed {
		s.metrics.observeLateness(s.beat.lateAtMost(q))
	}
	s.beat.observe(q)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = s.beat.mode == locked
	s.maxAge = 2 * s.beat.observedPeriod()
}

// choosePilot takes the smallest target that has samples and did not fail
// last; if all failed, any: map order makes it another one each time.
func choosePilot(targets []*target) (pilot *target, others []*target) {
	best, bestSize := 0, -1
	now := time.Now()
	for i, t := range targets {
		size, _ := t.size(now)
		if size > 0 && !t.failed() && (bestSize < 0 || size < bestSize) {
			best, bestSize = i, size
		}
	}
	return targets[best], slices.Delete(slices.Clone(targets), best, best+1)
}

// isDown is true for failures that any other question would meet too. They may
// be over soon; a right that is not granted, or an answer that nobody can read, or
// that is too large, takes a person.
func isDown(err error) bool {
	silence, _ := fleet.Classify(err)
	return silence != nil && !slices.Contains([]fleet.Reason{fleet.ReasonForbidden, fleet.ReasonBadAnswer, fleet.ReasonTooLarge},
		silence.Reason)
}

func (s *scraper) failAll(targets []*target, a attempt) {
	for _, t := range targets {
		s.file(t, attempt{sent: a.sent, received: a.received, err: a.err})
	}
}

// askAll asks for all targets: the namespaces at once where that is cheaper.
func (s *scraper) askAll(targets []*target, onBeat bool) comparison {
	namespaces, others := namespacesApart(targets)
	if s.scope.Everywhere() && s.together.worthwhile(len(namespaces), samplesOf(namespaces)) {
		if c, answered := s.askTogether(namespaces, onBeat); answered {
			return c.with(s.askEach(others, onBeat))
		}
	}
	return s.askEach(targets, onBeat)
}

func samplesOf(targets []*target) (n int) {
	now := time.Now()
	for _, t := range targets {
		samples, _ := t.size(now)
		n += samples
	}
	return n
}

func namespacesApart(targets []*target) (namespaces, others []*target) {
	for _, t := range targets {
		if t.isNamespace() {
			namespaces = append(namespaces, t)
		} else {
			others = append(others, t)
		}
	}
	return namespaces, others
}

// asksAtOnce bounds the requests of one round to one member, and how many at one time begin to ask for what is new to us.
const asksAtOnce = 4

func (s *scraper) askEach(targets []*target, onBeat bool) comparison {
	var mu sync.Mutex
	var all comparison
	var group errgroup.Group
	group.SetLimit(asksAtOnce)
	for _, t := range targets {
		group.Go(func() error {
			_, c := s.ask(t, onBeat)
			mu.Lock()
			defer mu.Unlock()
			all = all.with(c)
			return nil
		})
	}
	_ = group.Wait() // the outcomes are filed in the targets
	return all
}

// ask makes one attempt and records it.
func (s *scraper) ask(t *target, onBeat bool) (attempt, comparison) {
	t.asking <- struct{}{}
	defer func() { <-t.asking }()
	a := attempt{sent: time.Now(), onBeat: onBeat}
	a.batch, a.err = s.fetch(t.key)
	a.received = time.Now()
	return a, s.file(t, a)
}

// file has a target keep what became of an attempt.
func (s *scraper) file(t *target, a attempt) comparison {
	if a.batch.unlabelled() && t.labelled() {
		s.noteLost(t.key.resource, a.sent)
	}
	c := t.keep(a)
	s.memory.Changed(t)
	return c
}

func (s *scraper) fetch(k key) (*Batch, error) {
	if err := s.source.Silence(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	if k.resource == podsResource && k.namespace == "" && !s.scope.Everywhere() {
		return s.fetchScope(ctx, k)
	}
	return s.request(ctx, k)
}

// fetchScope asks for the pods of each namespace in scope. Without one of them there is no answer: a part would pass for the whole.
func (s *scraper) fetchScope(ctx context.Context, k key) (*Batch, error) {
	namespaces := s.scope.Names()
	parts := make([]*Batch, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asksAtOnce)
	for i, namespace := range namespaces {
		group.Go(func() (err error) {
			one := k
			one.namespace = namespace
			parts[i], err = s.request(ctx, one)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return join(parts), nil
}

// request asks the member until ctx ends.
func (s *scraper) request(ctx context.Context, k key) (*Batch, error) {
	sent := time.Now()
	batch, err := k.fetch(ctx, s.source.MetricsClient(), s.source.Reading())
	if s.ctx.Err() == nil { // a departed member's series are gone, and stay so
		s.metrics.countScrape(s.source.Name(), err)
	}
	s.noteLabels(k.resource, sent, batch)
	return batch, err
}

// fetchOnce asks a question that is not kept, once for all who wait for it.
func (s *scraper) fetchOnce(ctx context.Context, k key) (*Batch, error) {
	result := s.once.DoChan(k.resource+"/"+k.namespace+"?"+k.selector, func() (any, error) { return s.fetch(k) })
	select {
	case r := <-result:
		batch, _ := r.Val.(*Batch)
		return batch, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *scraper) hotTargets() []*target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.targets))
}

func (s *scraper) drop(k key) {
	s.mu.Lock()
	t := s.targets[k]
	delete(s.targets, k)
	s.mu.Unlock()
	if t != nil {
		s.forget(t)
	}
}

// leave ends the scraper, and frees what it holds.
func (s *scraper) leave() {
	s.cancel()
	for _, t := range s.hotTargets() {
		s.forget(t)
	}
	s.latest.leave(s.memory)
}

func (s *scraper) forget(t *target) {
	t.leave()
	s.memory.Changed(t)
}

// read returns what may be served of t now; see target.read.
func (s *scraper) read(t *target, now time.Time, maxAge time.Duration) (*Batch, error) {
	s.mu.Lock()
	maxAge = max(maxAge, s.maxAge)
	s.mu.Unlock()
	return t.read(now, maxAge)
}
