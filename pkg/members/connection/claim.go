// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// claim is an answer that waits for room for what decoding it takes. What is being read of others gives way to it
// as to any answer, but what is being decoded cannot, so it waits for that. Whose member would hold the least is
// served first, and none goes before it: so a member waits for others only while they hold more than it would.
type claim struct {
	loan *loan
	more int64
	// served is closed when the loan holds it.
	served chan struct{}
}

// after is what the member would hold.
func (c *claim) after() int64 { return c.loan.account.held + c.more }

func tooLargeDecoded(bytes int64) error {
	return fleet.Silencef(fleet.ReasonTooLarge,
		"decoding the answer would take %s: more than one cluster may take (three eighths of GOMEMLIMIT)",
		resource.NewQuantity(bytes, resource.BinarySI))
}

// fits is false for what there never is room for.
func (l *loan) fits(more int64) bool {
	if l == nil {
		return true
	}
	b := l.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	return l.held+more <= b.each
}

// claim has the loan hold that much more, and no longer give way; it waits for that until end. The loan must have been
// made with what closes given.
func (l *loan) claim(more int64, end, given <-chan struct{}) error {
	if l == nil {
		return nil
	}
	b := l.account.budget
	c := &claim{loan: l, more: more, served: make(chan struct{})}
	if b.enter(c) {
		return nil
	}
	select {
	case <-c.served:
		return nil
	case <-end:
	case <-given:
	}
	if b.leave(c) {
		return errCrowded
	}
	return nil // it was served at the same moment
}

// enter is true for a claim that is served at once.
func (b *budget) enter(c *claim) bool {
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	revoked := b.serve()
	served := !slices.Contains(b.waiting, c)
	b.mu.Unlock()
	end(revoked)
	return served
}

// leave is false for a claim that was served.
func (b *budget) leave(c *claim) bool {
	b.mu.Lock()
	at := slices.Index(b.waiting, c)
	var revoked []*loan
	if at >= 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
		revoked = b.serve() // others waited for it
	}
	b.mu.Unlock()
	end(revoked)
	return at >= 0
}

// serve serves those who wait, as far as there is room, and returns what has given way to them.
func (b *budget) serve() (revoked []*loan) {
	for {
		c := b.first()
		if c == nil {
			return revoked
		}
		gave, served := b.room(c)
		revoked = append(revoked, gave...)
		if !served {
			return revoked
		}
		b.waiting = slices.DeleteFunc(b.waiting, func(other *claim) bool { return other == c })
		close(c.served)
	}
}

// first is the claim of the member that would hold the least, of those that may have it; nil if there is none.
func (b *budget) first() (first *claim) {
	for _, c := range b.waiting {
		l := c.loan
		if !l.revoked && l.account.fixed+l.held+c.more <= b.each && (first == nil || c.after() < first.after()) {
			first = c
		}
	}
	return first
}

// room has what can give way do so for a claim, if that makes room enough: of the same member, and of those that hold more. If
// nothing is being decoded, which would be over some time, others give way, too.
func (b *budget) room(c *claim) (revoked []*loan, served bool) {
	l := c.loan
	var held []int64 // by what is revoked, before
	b.add(l, c.more)
	for b.held > b.most || l.account.held > b.each {
		var gives *loan
		if l.account.held > b.each {
			gives = l.account.other(l)
		} else if gives = b.largest(l).largest(l); gives == l && b.fixed == 0 {
			gives = b.other(l)
		}
		if gives == l {
			b.add(l, -c.more)
			for i, other := range revoked {
				other.revoked = false
				b.add(other, held[i])
			}
			return nil, false
		}
		held = append(held, gives.held)
		b.revoke(gives)
		revoked = append(revoked, gives)
	}
	b.fixed, l.account.fixed = b.fixed+l.held, l.account.fixed+l.held
	l.revoke = nil
	return revoked, true
}

// other is what holds the most beside the asker of what can give way, over all members.
func (b *budget) other(asker *loan) *loan {
	most := asker
	for a := range b.accounts {
		if l := a.other(asker); l != asker && (most == asker || l.held > most.held) {
			most = l
		}
	}
	return most
}

// other is what holds the most beside the asker of what can give way; the asker if there is nothing.
func (a *account) other(asker *loan) *loan {
	most := asker
	for l := range a.loans {
		if l != asker && l.revoke != nil && (most == asker || l.held > most.held) {
			most = l
		}
	}
	return most
}
