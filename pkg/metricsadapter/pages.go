// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"io"
	"sync"
)

// An answer is written in pages of this size, with room for a last large item.
const (
	pageBytes = 64 << 10
	pageRoom  = 4 << 10
)

// pages lends memory to write answers in. Without it, most of the garbage of an
// answer is what it was written in.
type pages struct {
	pool sync.Pool
}

func newPages() *pages {
	return &pages{sync.Pool{New: func() any { return new([pageBytes + pageRoom]byte) }}}
}

func (p *pages) lend() []byte { return p.pool.Get().(*[pageBytes + pageRoom]byte)[:0] }

// takeBack is for a page that nobody reads any more. One that has grown is not kept.
func (p *pages) takeBack(page []byte) {
	if cap(page) == pageBytes+pageRoom {
		p.pool.Put((*[pageBytes + pageRoom]byte)(page[:cap(page)]))
	}
}

// writeAll takes those pages back that were written as a whole. Where a write
// fails, as when a client goes away, the connection may still read the page,
// and must not find the answer to somebody else there.
func (p *pages) writeAll(w io.Writer, all ...[]byte) (size int, err error) {
	for _, page := range all {
		n, err := w.Write(page)
		size += n
		if err != nil {
			return size, err
		}
		p.takeBack(page)
	}
	return size, nil
}
