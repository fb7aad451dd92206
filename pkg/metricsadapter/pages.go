// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"io"
	"sync"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// pageRoom is for a last large item.
const pageRoom = 4 << 10

// pages lends memory to write answers in. Without it, most of the garbage of an
// answer is what it was written in.
type pages struct {
	pool sync.Pool
}

var _ wire.Pages = (*pages)(nil)

func newPages() *pages {
	return &pages{sync.Pool{New: func() any { return new([wire.PageBytes + pageRoom]byte) }}}
}

// Lend returns an empty page.
func (p *pages) Lend() []byte { return p.pool.Get().(*[wire.PageBytes + pageRoom]byte)[:0] }

// takeBack is for a page that nobody reads any more. One that has grown is not kept.
func (p *pages) takeBack(page []byte) {
	if cap(page) == wire.PageBytes+pageRoom {
		p.pool.Put((*[wire.PageBytes + pageRoom]byte)(page[:cap(page)]))
	}
}

// WriteAll takes those pages back that were written as a whole. Where a write
// fails, as when a client goes away, the connection may still read the page,
// and must not find the answer to somebody else there.
func (p *pages) WriteAll(w io.Writer, all ...[]byte) (size int, err error) {
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
