// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// bench is a pool whose clock stands.
type bench struct {
	*pool[string]
	t    *testing.T
	time time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, time: time.Unix(1_000_000, 0)}
	b.pool = newPool[string](limits{most: 3, mostOfReader: 2, idle: time.Minute, life: time.Hour}, func() time.Time { return b.time })
	return b
}

func named(name string) (k key) {
	copy(k[:], name)
	return k
}

func (b *bench) keep(reader, name string) error {
	return b.put(b.t.Context(), named(name), reader, func(context.Context) string { return name })
}

func (b *bench) mustKeep(reader string, names ...string) {
	b.t.Helper()
	for _, name := range names {
		if err := b.keep(reader, name); err != nil {
			b.t.Fatalf("keeping %s of %s: %v", name, reader, err)
		}
		b.time = b.time.Add(time.Second)
	}
}

func (b *bench) use(name string) *held[string] {
	b.t.Helper()
	of, found := b.take(named(name))
	if !found {
		b.t.Fatalf("%s is not there", name)
	}
	return of
}

func (b *bench) wants(names string) {
	b.t.Helper()
	var got []string
	for _, of := range b.held {
		if of.ctx.Err() != nil {
			b.t.Errorf("%s is kept, and has ended", of.value)
		}
		got = append(got, of.value)
	}
	slices.Sort(got)
	if strings.Join(got, " ") != names {
		b.t.Errorf("%v is kept, want %s", got, names)
	}
}

// One reader displaces what is the reader's own, and who displaces others' takes what nobody uses.
func TestRoom(t *testing.T) {
	b := newBench(t)
	b.mustKeep("ann", "a1", "a2")
	b.mustKeep("bob", "b1")
	b.wants("a1 a2 b1")
	b.release(b.use("a1")) // so a2 was not used for longer
	b.mustKeep("ann", "a3")
	b.wants("a1 a3 b1")
	one, three := b.use("a1"), b.use("a3")
	if err := b.keep("ann", "a4"); !errors.Is(err, errOfReader) {
		t.Errorf("a third page of a reader: %v", err)
	}
	b.mustKeep("eve", "e1") // b1 is the only one that nobody uses
	b.wants("a1 a3 e1")
	e := b.use("e1")
	if err := b.keep("bob", "b1"); !errors.Is(err, errFull) {
		t.Errorf("one more than there may be: %v", err)
	}
	b.wants("a1 a3 e1")
	for _, of := range []*held[string]{one, three, e} {
		b.release(of)
		b.time = b.time.Add(time.Second)
	}
	b.mustKeep("bob", "b1")
	b.wants("a3 b1 e1")
}

// What is put by the same key takes the place of what was there, which ends.
func TestTheSameKey(t *testing.T) {
	b := newBench(t)
	b.mustKeep("ann", "a1")
	before := b.use("a1")
	b.mustKeep("ann", "a1")
	if b.wants("a1"); before.ctx.Err() == nil {
		t.Error("the former one has not ended")
	}
	b.release(before)
}

// What nobody uses is kept for a while; what is used, for its life and no longer.
func TestLife(t *testing.T) {
	b := newBench(t)
	b.mustKeep("ann", "a1", "a2")
	used := b.use("a1")
	b.time = b.time.Add(time.Minute - 2*time.Second)
	b.sweep()
	b.wants("a1 a2")
	b.time = b.time.Add(time.Second) // for a minute nobody has used a2
	b.sweep()
	b.wants("a1")
	b.time = b.time.Add(time.Hour - time.Minute - 2*time.Second)
	b.sweep()
	b.wants("a1")
	b.time = b.time.Add(time.Second)
	if _, found := b.take(named("a1")); found || used.ctx.Err() == nil {
		t.Error("it is older than it may be")
	}
	b.release(used)
	b.wants("")
}

// Nothing is kept once all has ended, and what is dropped is what was meant.
func TestDrop(t *testing.T) {
	b := newBench(t)
	b.mustKeep("ann", "a1", "a2")
	b.mustKeep("bob", "b1")
	all := maps.Clone(b.held)
	b.drop(func(name string) bool { return strings.HasPrefix(name, "a") })
	b.wants("b1")
	for _, of := range all {
		if ended := of.ctx.Err() != nil; ended != (of.reader == "ann") {
			t.Errorf("%s has ended: %v", of.value, ended)
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := b.put(over, named("c1"), "cid", func(context.Context) string { return "c1" }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	b.wants("b1")
}

// kept is how much is.
func (p *pool[V]) kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

// What is shown for a token, with or without a login, in one namespace or all, is that of nothing else.
func TestEachViewHasItsKey(t *testing.T) {
	of := map[key]string{}
	for _, token := range []string{"ann", "bob", "shop/ann"} {
		for _, login := range []bool{false, true} {
			for _, namespace := range []string{"", "shop", "shop/ann"} {
				c := secret{token: token, login: login}
				what := fmt.Sprintf("%+v in %q", c, namespace)
				if other, has := of[c.view(namespace)]; has {
					t.Errorf("%s has the key of %s", what, other)
				}
				of[c.view(namespace)] = what
			}
		}
	}
}
