// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"io"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// copies is how often an answer is in memory when the last of it has been read: in the pieces that io.ReadAll put it in, and
// in the whole that it makes of them.
const copies = 2

// bounded is a body that fails once it was longer than most, after decompression, or
// when it gives way to other answers. Until it is closed it holds what was read of it.
type bounded struct {
	io.ReadCloser

	most, left int64
	loan       *loan
	intake     *intake
}

// bound calls stop for a body that gives way, whose Read may be under way: it must not wait for that.
func bound(body io.ReadCloser, most int64, of *intake, stop func()) *bounded {
	return &bounded{body, most, most, of.account.loan(stop), of}
}

// Read reads one byte more than there may be, to know that there is one.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLarge()
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.intake.offended(offenceTooLarge, b.tooLarge())
	}
	if crowded := b.loan.take(copies * int64(n)); crowded != nil { // then err is that we ended it
		return 0, crowded
	}
	return n, err
}

// Close releases what was held.
func (b *bounded) Close() error {
	b.loan.close()
	return b.ReadCloser.Close()
}

// again begins to count again.
func (b *bounded) again() {
	b.left = b.most
	b.loan.giveBack()
}

func (b *bounded) tooLarge() error {
	return fleet.Silencef(fleet.ReasonTooLarge, "the answer is larger than %s (--max-member-answer, and a part of GOMEMLIMIT)",
		resource.NewQuantity(b.most, resource.BinarySI))
}
