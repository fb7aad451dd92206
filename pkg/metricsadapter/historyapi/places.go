// SPDX-License-Identifier: Apache-2.0

package historyapi

import "sync"

// mostPlaces are how many records are asked for at one time.
const mostPlaces = 16

// places are held while records are read, one for each namespace: who asks again and again waits for themselves.
type places struct {
	mu    sync.Mutex
	taken map[string]bool
}

// take returns how to leave a place again; false: there is none.
func (p *places) take(namespace string) (leave func(), taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[namespace] || len(p.taken) >= mostPlaces {
		return nil, false
	}
	if p.taken == nil {
		p.taken = map[string]bool{}
	}
	p.taken[namespace] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.taken, namespace)
	}, true
}
