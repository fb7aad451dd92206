// SPDX-License-Identifier: Apache-2.0

package member

import (
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// mostEvent bounds one event of a watch. It is what client-go decodes at most.
const mostEvent = 16 << 20

// bounded is a body that fails once it was longer than most, after decompression.
type bounded struct {
	io.ReadCloser

	most, left int64
}

func bound(body io.ReadCloser, most int64) *bounded { return &bounded{body, most, most} }

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
		return n - 1, b.tooLarge()
	}
	return n, err
}

// again begins to count anew.
func (b *bounded) again() { b.left = b.most }

func (b *bounded) tooLarge() error {
	return silencef(fleet.ReasonTooLarge, "the answer is larger than %s (--max-member-answer)",
		resource.NewQuantity(b.most, resource.BinarySI))
}

// isWatch is true for a request whose answer has no end, so that only each of its events can be bounded.
func isWatch(req *http.Request) bool {
	switch req.URL.Query().Get("watch") {
	case "1", "true":
		return true
	}
	return false
}
