// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unsafe"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// breaks takes so many bytes, and then fails.
type breaks struct{ after int }

func (b *breaks) Write(p []byte) (int, error) {
	if n := b.after; n < len(p) {
		b.after = 0
		return n, errors.New("the client went away")
	}
	b.after -= len(p)
	return len(p), nil
}

// comeBack returns how many of 200 pages are the next that is lent, after use did what it does with them. It is never
// said that a page is kept (a collection may come between), only that others are not.
func comeBack(t *testing.T, use func(*pages, []byte)) (n int) {
	t.Helper()
	for range 200 {
		memory := newPages()
		page := memory.Lend()
		if len(page) != 0 || cap(page) != wire.PageBytes+pageRoom {
			t.Fatalf("a page has %d bytes of %d", len(page), cap(page))
		}
		page = append(page, "an answer"...)
		first := unsafe.SliceData(page)
		use(memory, page)
		next := memory.Lend()
		if len(next) != 0 {
			t.Fatalf("a page is lent with %d bytes in it", len(next))
		}
		if unsafe.SliceData(next) == first {
			n++
		}
	}
	return n
}

func TestPagesAreLentAgainOnceTheyAreWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		use   func(*pages, []byte)
		again bool
	}{
		"written":              {func(p *pages, page []byte) { _, _ = p.WriteAll(io.Discard, page) }, true},
		"not written":          {func(*pages, []byte) {}, false},
		"the client went away": {func(p *pages, page []byte) { _, _ = p.WriteAll(&breaks{}, page) }, false},
		"... within it":        {func(p *pages, page []byte) { _, _ = p.WriteAll(&breaks{5}, page) }, false},
		"... before it":        {func(p *pages, page []byte) { _, _ = p.WriteAll(&breaks{}, []byte("head"), page) }, false},
		"... after it":         {func(p *pages, page []byte) { _, _ = p.WriteAll(&breaks{9}, page, []byte("tail")) }, true},
		"a part of it":         {func(p *pages, page []byte) { _, _ = p.WriteAll(io.Discard, page[:9:9]) }, false},
	} {
		if n := comeBack(t, tc.use); (n > 0) != tc.again {
			t.Errorf("%s: %d of 200 pages are lent again, want any: %v", name, n, tc.again)
		}
	}
}

func TestPageThatHasGrownIsNotKept(t *testing.T) {
	for range 200 {
		memory := newPages()
		page := append(memory.Lend(), make([]byte, wire.PageBytes+pageRoom+1)...)
		first := unsafe.SliceData(page)
		_, _ = memory.WriteAll(io.Discard, page)
		if unsafe.SliceData(memory.Lend()) == first {
			t.Fatal("a page that has grown is lent again")
		}
	}
}

func TestWriteAllTellsWhatWasWritten(t *testing.T) {
	var w bytes.Buffer
	if n, err := newPages().WriteAll(&w, []byte("one"), nil, []byte("two")); n != 6 || err != nil || w.String() != "onetwo" {
		t.Errorf("WriteAll = %d, %v, and wrote %q", n, err, w.String())
	}
	if n, err := newPages().WriteAll(&breaks{4}, []byte("one"), []byte("two"), []byte("")); n != 4 || err == nil {
		t.Errorf("WriteAll = %d, %v to a client that went away after 4 bytes", n, err)
	}
}
