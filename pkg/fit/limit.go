// SPDX-License-Identifier: Apache-2.0

package fit

import "math"

// share is a node that admits the replica, and how many more fit it.
type share struct {
	*Node
	n int64
}

// limit bounds further replicas by domain: the nodes that have the same value of a label.
type limit struct {
	key string
	// left is how many each domain takes; those not named take others.
	left   map[string]int64
	others int64
	// keyless is how many a node takes that has no such label.
	keyless int64
}

func (l *limit) of(n *Node) (domain string, left int64) {
	domain, found := n.Labels[l.key]
	if !found {
		return "", l.keyless
	}
	if left, named := l.left[domain]; named {
		return domain, left
	}
	return domain, l.others
}

// apply lowers the shares to what their domains take, and returns how many replicas all of them take together.
func (l *limit) apply(shares []share) int64 {
	taken, total := map[string]int64{}, int64(0)
	for i := range shares {
		s := &shares[i]
		domain, left := l.of(s.Node)
		s.n = min(s.n, left)
		if _, found := s.Labels[l.key]; !found {
			total = plus(total, s.n)
			continue
		}
		n := min(s.n, left-taken[domain])
		taken[domain] = plus(taken[domain], n)
		total = plus(total, n)
	}
	return total
}

func sum(shares []share) int64 {
	total := int64(0)
	for i := range shares {
		total = plus(total, shares[i].n)
	}
	return total
}

const unlimited = math.MaxInt64
