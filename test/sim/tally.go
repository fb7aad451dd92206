// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request is a kind of request. For what is no resource, Resource is the path.
type Request struct {
	// Verb is get, list, watch, create, update, patch or delete.
	Verb string
	// Group is empty for the core API.
	Group string
	// Resource is plural.
	Resource string
	// Subresource is empty mostly; in custom.metrics.k8s.io it is the metric.
	Subresource string
}

// Tally is how often a member got each kind of request.
type Tally map[Request]int

// Of counts the requests to one API group.
func (t Tally) Of(group string) int {
	n := 0
	for request, times := range t {
		if request.Group == group {
			n += times
		}
	}
	return n
}

// Total counts all requests.
func (t Tally) Total() int {
	n := 0
	for _, times := range t {
		n += times
	}
	return n
}

// Since returns what came after an earlier tally.
func (t Tally) Since(earlier Tally) Tally {
	later := Tally{}
	for request, times := range t {
		if n := times - earlier[request]; n > 0 {
			later[request] = n
		}
	}
	return later
}

// Requests returns those that the member got so far, answered or not.
func (m *Member) Requests() Tally {
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	return maps.Clone(m.tally.counts)
}

type tally struct {
	mu     sync.Mutex
	counts Tally
}

func newTally() *tally { return &tally{counts: Tally{}} }

func (t *tally) count(info *request.RequestInfo) {
	r := requestOf(info)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[r]++
}

func requestOf(info *request.RequestInfo) Request {
	if !info.IsResourceRequest {
		return Request{Verb: info.Verb, Resource: info.Path}
	}
	return Request{Verb: info.Verb, Group: info.APIGroup, Resource: info.Resource, Subresource: info.Subresource}
}
