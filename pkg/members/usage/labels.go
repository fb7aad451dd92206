// SPDX-License-Identifier: Apache-2.0

package usage

import "time"

// Old metrics-servers leave labels out, so that such a member has to be asked to
// select itself, once for each selector. Whether a member's does is told by all
// that it sends, whatever the namespace: pods that have no labels, in the
// namespace of somebody who has given them none, do not make a member an old one.
type labelling struct {
	// seen is when the member was last asked for what came with labels; zero if never.
	seen time.Time
	// lost is when it was asked for samples none of which had any, in a place
	// where some had before: what was seen until then may be over.
	lost time.Time
}

// noteLabels takes what the member sent when it was asked at that time.
func (s *scraper) noteLabels(resource string, sent time.Time, b *Batch) {
	if !b.labelled() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.labelling[resource]
	if sent.After(l.seen) {
		l.seen = sent
	}
	s.labelling[resource] = l
}

// noteLost is for samples without labels that replace some with.
func (s *scraper) noteLost(resource string, sent time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.labelling[resource]
	l.lost = sent
	s.labelling[resource] = l
}

// sendsLabels is true when samples without labels are of objects without labels.
// False: that is not known.
func (s *scraper) sendsLabels(resource string, now time.Time, maxAge time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.labelling[resource]
	return !l.seen.IsZero() && !l.lost.After(l.seen) && now.Sub(l.seen) <= max(maxAge, s.maxAge)
}
