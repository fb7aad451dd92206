// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// mostChatter bounds the bytes that a cluster sends beside its answers, such as frames of HTTP/2 that have to be acknowledged. What
// was received and is never read, as of an answer that was given up, is some of it too: it takes several such in a row to come to this.
// mostHeader is what an answer may have beside its body; one from a cluster that has nothing to say is no larger.
// forgiven wanes each second: failing handshakes, and pages of proxies that nobody reads, add up to nothing.
const (
	mostChatter = 4 * mostUnread
	mostHeader  = 8 << 10
	forgiven    = 64 << 10
)

var errChatter error = fleet.Silencef(fleet.ReasonBadAnswer, "the cluster sends much that belongs to no answer")

// chatter is what one cluster has sent that belongs to no answer.
type chatter struct {
	mu    sync.Mutex
	bytes int64
	at    time.Time // when it waned last
}

// received is true when that is too much. Then it begins again.
func (c *chatter) received(n int, now time.Time) (tooMuch bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone := int64(now.Sub(c.at).Seconds() * forgiven); gone > 0 {
		c.bytes, c.at = max(0, c.bytes-gone), now
	}
	if c.bytes += int64(n); c.bytes <= mostChatter {
		return false
	}
	c.bytes = 0
	return true
}

// answered takes off what an answer was, and as much again for what it came in: records of TLS, and frames.
func (c *chatter) answered(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = max(0, c.bytes-2*int64(n))
}

// dialFunc is as net.Dialer.DialContext.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// listening dials connections whose other side may not chatter.
func (i *intake) listening(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return listened{conn, i}, nil
	}
}

type listened struct {
	net.Conn

	intake *intake
}

func (l listened) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if err == nil && l.intake.chatter.received(n, time.Now()) {
		return 0, l.intake.misbehaved(offenceChatter, errChatter)
	}
	return n, err
}

// answerBody is one that is no chatter, as it comes: compressed perhaps.
type answerBody struct {
	io.ReadCloser

	chatter *chatter
	n       int64 // that were read
}

func (a *answerBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.n += int64(n)
	a.chatter.answered(n)
	return n, err
}
