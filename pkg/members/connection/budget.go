// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math"
	"sync"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// budget bounds the bytes of answers that are in memory at one time, over all
// members. Bytes are taken as they are read, so that who sends nothing holds nothing.
// When they run out, the member that holds the most gives way, by its largest answer: so a
// member that holds no more than its fair part of them is never refused for the others.
type budget struct {
	most int64 // over all members
	each int64 // of one

	mu       sync.Mutex
	held     int64
	fixed    int64                 // of that what cannot give way
	accounts map[*account]struct{} // those that hold something
	waiting  []*claim              // for room, in order of arrival
}

// answersInMemory is how many of the largest answers there may be where nothing tells how much memory there is.
const answersInMemory = 8

// newBudget is for the answers that are being read by a process with that limit of memory, which is math.MaxInt64 for
// none. A part of the limit is left to what is made of answers, and to all else.
func newBudget(memory, mostAnswer int64) *budget {
	if memory == math.MaxInt64 {
		return budgetOf(answersInMemory * mostAnswer)
	}
	return budgetOf(memory / 4 * 3)
}

func budgetOf(most int64) *budget {
	return &budget{most: most, each: most / 2, accounts: map[*account]struct{}{}}
}

// answer is the most that one answer may have: what is made of it has to have room beside it.
func (b *budget) answer() int64 { return b.each / 2 }

// account is what one member holds. The budget's lock guards it.
type account struct {
	budget *budget
	held   int64
	fixed  int64              // of that what cannot give way
	loans  map[*loan]struct{} // those that hold something
}

func (b *budget) account() *account { return &account{budget: b, loans: map[*loan]struct{}{}} }

// loan is what one answer holds. The budget's lock guards it.
type loan struct {
	account *account
	held    int64
	// revoke ends the reading of the answer, or its waiting to be decoded, without waiting for that. It is nil while
	// the answer is decoded, which nothing can end.
	revoke  func()
	revoked bool
}

// loan is for one answer; nil of no account, which has no bounds.
func (a *account) loan(revoke func()) *loan {
	if a == nil {
		return nil
	}
	return &loan{account: a, revoke: revoke}
}

var errCrowded error = fleet.Silencef(fleet.ReasonRateLimited,
	"the answer was given up: the answers that are being read have reached our limit of memory (GOMEMLIMIT), and this cluster's were the "+
		"largest")

// take adds to what the answer holds. After an error it holds nothing, and never will.
func (l *loan) take(n int64) error {
	if l == nil {
		return nil
	}
	b := l.account.budget
	b.mu.Lock()
	revoked := append(b.take(l, n), b.serve()...)
	refused := l.revoked
	b.mu.Unlock()
	end(revoked)
	if refused {
		return errCrowded
	}
	return nil
}

// end ends the reading of what has given way.
func end(revoked []*loan) {
	for _, l := range revoked {
		l.revoke()
	}
}

// giveBack is for an answer that was given up, decoded or lost. More may be taken after it.
func (l *loan) giveBack() {
	if l == nil {
		return
	}
	b := l.account.budget
	b.mu.Lock()
	b.add(l, -l.held)
	revoked := b.serve()
	b.mu.Unlock()
	end(revoked)
}

// close is giveBack for an answer that may be being read still: what is read of it from now on is refused.
func (l *loan) close() {
	if l == nil {
		return
	}
	b := l.account.budget
	b.mu.Lock()
	l.revoked = true
	b.mu.Unlock()
	l.giveBack()
}

// take returns what has given way, l itself not among it.
func (b *budget) take(l *loan, n int64) (revoked []*loan) {
	if l.revoked || n == 0 {
		return nil
	}
	b.add(l, n)
	for b.held > b.most || l.account.held > b.each {
		gives := b.next(l)
		b.revoke(gives)
		if gives == l {
			break
		}
		revoked = append(revoked, gives)
	}
	return revoked
}

// next is what gives way next so that l has what it holds; l itself if nobody else does.
func (b *budget) next(l *loan) *loan {
	if l.account.held > b.each {
		return l.account.largest(l)
	}
	return b.largest(l).largest(l)
}

func (b *budget) revoke(l *loan) {
	b.add(l, -l.held)
	l.revoked = true
}

// add keeps the sums, and forgets who holds nothing.
func (b *budget) add(l *loan, n int64) {
	a := l.account
	l.held, a.held, b.held = l.held+n, a.held+n, b.held+n
	if l.revoke == nil {
		a.fixed, b.fixed = a.fixed+n, b.fixed+n
	}
	keep(a.loans, l, l.held > 0)
	keep(b.accounts, a, a.held > 0)
}

func keep[T comparable](set map[T]struct{}, member T, kept bool) {
	if kept {
		set[member] = struct{}{}
	} else {
		delete(set, member)
	}
}

// largest is the account that holds the most of those that can give way, as the asker always can.
func (b *budget) largest(asker *loan) *account {
	most := asker.account
	for a := range b.accounts {
		if a.held > most.held && a.largest(asker) != nil {
			most = a
		}
	}
	return most
}

// largest is the loan that holds the most of those that can give way, as the asker always can; nil if there is none.
func (a *account) largest(asker *loan) (most *loan) {
	for l := range a.loans {
		if (l.revoke != nil || l == asker) && (most == nil || l.held > most.held) {
			most = l
		}
	}
	return most
}
