// SPDX-License-Identifier: Apache-2.0

package truth

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// ID tells a Pod of a fleet from all others.
type ID struct {
	Cluster, Namespace, Name string
}

// Pod is what is known of one, as long as it exists and after.
type Pod struct {
	ID
	Labels labels.Set
	// Figure is its custom metric, in thousandths.
	Figure int64
	// Used is what its containers used by the member's measurement of that number.
	Used func(number int64) []metricsv1beta1.ContainerMetrics
}

// Beat is when a member measures: the number of its last measurement at a
// time, and when that was.
type Beat func(at time.Time) (number int64, when time.Time)

// Pods are those of a fleet. All methods may be called from any goroutine.
type Pods struct {
	// maxAge is the time for which a measurement may be served once there is a newer one.
	maxAge time.Duration
	// resolution is the time between two measurements.
	resolution time.Duration

	mu      sync.RWMutex
	members []string
	beats   map[string]Beat         // of members that are trusted
	lives   map[string]map[ID]*life // by namespace
}

// life is when a Pod existed. A name may come again.
type life struct {
	Pod
	spans []span
}

// span ends at the zero time while it continues.
type span struct {
	from, to time.Time
}

// NewPods knows of no Pod. What a member measured may be served for maxAge once there is something newer.
func NewPods(maxAge, resolution time.Duration) *Pods {
	return &Pods{maxAge: maxAge, resolution: resolution, beats: map[string]Beat{}, lives: map[string]map[ID]*life{}}
}

// Join adds a member.
func (p *Pods) Join(name string, b Beat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members = append(p.members, name)
	slices.Sort(p.members)
	p.beats[name] = b
}

// Distrust adds a member that may lie about its own Pods: what it says of them is not judged. It must still be mentioned, and
// may speak of no other namespace than the one that was asked for, and of no Pod twice.
func (p *Pods) Distrust(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members = append(p.members, name)
	slices.Sort(p.members)
}

// distrusted reports whether a member that was added may lie. The lock is held.
func (p *Pods) distrusted(name string) bool {
	_, honest := p.beats[name]
	return !honest && slices.Contains(p.members, name)
}

// Members are in order.
func (p *Pods) Members() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.members)
}

// Change has Pods come and go by what f does, which no answer is judged during.
func (p *Pods) Change(f func(c *Changes) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(&Changes{p})
}

// Changes are made to Pods.
type Changes struct {
	pods *Pods
}

// Came says that a Pod exists since then.
func (c *Changes) Came(pod Pod, since time.Time) {
	all := c.pods.lives[pod.Namespace]
	if all == nil {
		all = map[ID]*life{}
		c.pods.lives[pod.Namespace] = all
	}
	l := all[pod.ID]
	if l == nil {
		l = &life{Pod: pod}
		all[pod.ID] = l
	}
	l.spans = append(l.spans, span{from: since})
}

// Went says that a Pod does not exist since then.
func (c *Changes) Went(id ID, since time.Time) {
	if l := c.pods.lives[id.Namespace][id]; l != nil && len(l.spans) > 0 {
		l.spans[len(l.spans)-1].to = since
	}
}

// existed reports whether it did at some time, and all the time.
func (l *life) existed(from, to time.Time) (ever, always bool) {
	for _, s := range l.spans {
		lasted := func(t time.Time) bool { return s.to.IsZero() || !s.to.Before(t) }
		ever = ever || !s.from.After(to) && lasted(from)
		always = always || !s.from.After(from) && lasted(to)
	}
	return ever, always
}
