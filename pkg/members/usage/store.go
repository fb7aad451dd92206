// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/shares"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Options of a Store. All durations must be above 0.
type Options struct {
	// Members gives the registered members; it must not block.
	Members func() []Source
	// Period is the time between two questions to a member for the same thing.
	Period time.Duration
	// MaxAge is the age past which samples are not served; for a member seen to
	// measure more slowly than every MaxAge/2 it is twice its own period.
	MaxAge time.Duration
	// IdleAfter is how long a namespace is kept hot after it was last asked for.
	IdleAfter time.Duration
	// Timeout bounds one question to one member.
	Timeout time.Duration
	// MaxHot bounds the questions kept hot: namespaces, the nodes, and selectors of
	// members that are asked to select themselves. Beyond it the namespace with
	// the most of them loses one, and of those with one who asked the longest ago.
	MaxHot int
	// Scope is the namespaces whose pods members are asked for. Where it is not all, an answer for all is one for these, of which
	// members are asked one by one.
	Scope tenancy.Scope
	// Memory bounds what is kept.
	Memory *memory.Memory
	// Metrics counts. It must not be nil.
	Metrics *Metrics
}

// Store answers for the fleet. All methods may be called from any goroutine.
type Store struct {
	o       Options
	changed chan struct{}
	lists   chan struct{} // see listsAtOnce

	mu       sync.Mutex
	ctx      context.Context // of Run; nil before
	hot      map[key]*hotKey
	shares   *shares.Ledger[key] // of hot
	scrapers map[string]*scraper
	running  sync.WaitGroup
}

// hotKey is a question that is put again each period.
type hotKey struct {
	asked time.Time
	// warm is closed when every member asked at first has answered or failed.
	warm chan struct{}
}

// mostSelectors bounds for each namespace, beside the namespace itself, the
// selectors that are put to members again each period. Each is one request more
// to a member, and its answer may be all of the namespace. There is one for each
// workload that is scaled, where members leave labels out; more are asked for
// when they are asked.
const mostSelectors = 32

// New returns a store that knows no member until it runs.
func New(o Options) *Store {
	s := &Store{
		o: o, changed: make(chan struct{}, 1), lists: make(chan struct{}, listsAtOnce), hot: map[key]*hotKey{}, scrapers: map[string]*scraper{},
		shares: shares.NewLedger[key](int64(o.MaxHot), min(1+mostSelectors, int64(o.MaxHot))),
	}
	o.Metrics.collectFrom(s)
	return s
}

// Run keeps the store until ctx ends, and returns when everything it started has ended.
func (s *Store) Run(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	ticker := time.NewTicker(s.o.Period)
	defer ticker.Stop()
	for {
		s.followMembers()
		s.dropIdle(time.Now())
		select {
		case <-ctx.Done():
			s.running.Wait()
			return
		case <-s.changed:
		case <-ticker.C:
		}
	}
}

// MembersChanged says that Members would now say something else. It never blocks.
func (s *Store) MembersChanged() { signal(s.changed) }

// Question is put to the fleet.
type Question struct {
	// Namespace; empty for all, and for nodes.
	Namespace string
	// Selector on the labels of pods or nodes.
	Selector labels.Selector
	// Clusters says which members are asked, by name.
	Clusters func(name string) bool
}

// Pods answers with the pods of one namespace, or of all in scope.
func (s *Store) Pods(ctx context.Context, q Question) fleet.Answer[Selection] {
	return s.answer(ctx, q, key{resource: podsResource, namespace: q.Namespace})
}

// Nodes answers with the nodes.
func (s *Store) Nodes(ctx context.Context, q Question) fleet.Answer[Selection] {
	return s.answer(ctx, q, key{resource: nodesResource})
}

// MeasuredPods returns how many pods' samples are in memory of each member.
func (s *Store) MeasuredPods() map[string]int {
	s.mu.Lock()
	scrapers := s.all()
	s.mu.Unlock()
	pods, now := make(map[string]int, len(scrapers)), time.Now()
	for _, sc := range scrapers {
		n := 0
		for _, t := range sc.hotTargets() {
			if t.isNamespace() { // with a selector it is a part of these
				samples, _ := t.size(now)
				n += samples
			}
		}
		pods[sc.source.Name()] = n
	}
	return pods
}

// grace lets members' deadlines end before ours, so that their silence has its true reason.
const grace = time.Second

// answer asks for everything under k and selects here. Members whose samples
// bear no labels are asked to select themselves.
func (s *Store) answer(ctx context.Context, q Question, k key) fleet.Answer[Selection] {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout+grace)
	defer cancel()
	asked := s.asked(q)
	batches := s.batches(ctx, asked, k)
	answer := fleet.NewAnswer[Selection](len(asked))
	var unlabelled []*scraper
	now := time.Now()
	for i, sc := range asked {
		if !q.Selector.Empty() && batches[i].batch.unlabelled() && !sc.sendsLabels(k.resource, now, s.o.MaxAge) {
			unlabelled = append(unlabelled, sc)
			continue
		}
		answer.Add(sc.source.Name(), selectFrom(batches[i].batch, q.Selector), batches[i].err)
	}
	if len(unlabelled) > 0 {
		k.selector = q.Selector.String()
		for i, b := range s.batches(ctx, unlabelled, k) {
			answer.Add(unlabelled[i].source.Name(), selectFrom(b.batch, labels.Everything()), b.err)
		}
	}
	return answer
}

// result is one member's.
type result struct {
	batch *Batch
	err   error
}

// batches gives each scraper's result, in order: from memory for a question
// that is kept hot, from the members for one that is not.
func (s *Store) batches(ctx context.Context, asked []*scraper, k key) []result {
	results := make([]result, len(asked))
	if k.resource == podsResource && k.namespace == "" {
		var all sync.WaitGroup
		for i, sc := range asked {
			all.Go(func() { results[i].batch, results[i].err = sc.fetchOnce(ctx, k) })
		}
		all.Wait()
		return results
	}
	h, targets := s.touch(k, asked)
	select {
	case <-h.warm:
	case <-ctx.Done():
	}
	now := time.Now()
	for i, sc := range asked {
		results[i].batch, results[i].err = sc.read(targets[i], now, s.o.MaxAge)
	}
	return results
}

// asked are the scrapers of the members that the question is for.
func (s *Store) asked(q Question) []*scraper {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := make([]*scraper, 0, len(s.scrapers))
	for name, sc := range s.scrapers {
		if q.Clusters(name) {
			asked = append(asked, sc)
		}
	}
	return asked
}
