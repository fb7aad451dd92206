// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

var errNoAnswer error = fleet.Silencef(fleet.ReasonTimeout, "no answer within the deadline")

// streams is the outermost transport for answers that last. An answer must
// begin within a deadline, and is counted then; it ends with its connection.
type streams struct {
	wire    *wire
	timeout time.Duration

	mu    sync.Mutex
	open  map[*stream]struct{}
	ended bool // guarded by mu; none is opened any more
}

// RoundTrip sends one request. What went wrong on the way is a [*fleet.Silence]:
// client-go takes some errors of a watch, a timeout among them, for its end.
func (s *streams) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := s.wire.admit(req); err != nil {
		return nil, silent(err)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	str := &stream{ctx: ctx, cancel: cancel, of: s}
	if !s.add(str) {
		cancel(nil)
		return nil, errReplaced
	}
	start := time.Now()
	deadline := time.AfterFunc(s.timeout, func() { cancel(errNoAnswer) })
	resp, err := s.wire.send(req.WithContext(ctx))
	if err != nil || resp.StatusCode == http.StatusOK { // a refusal does not last: it is read within the deadline, too
		deadline.Stop()
	}
	if err != nil {
		err = s.wire.redact(str.why(err))
		s.wire.done(resultOf(nil, err), start)
		str.finish()
		return nil, silent(err)
	}
	s.wire.done(resultOf(resp, nil), start)
	str.ReadCloser = resp.Body
	resp.Body = str
	return resp, nil
}

// silent leaves what we did ourselves as it is.
func silent(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, errReplaced) {
		return err
	}
	silence, _ := fleet.Classify(err)
	return silence
}

func (s *streams) add(str *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.open[str] = struct{}{}
	}
	return !s.ended
}

// end ends all streams and lets no other begin.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for str := range s.open {
		str.cancel(errReplaced)
	}
}

// stream is the body of an answer that lasts.
type stream struct {
	io.ReadCloser

	ctx    context.Context // the request's
	cancel context.CancelCauseFunc
	of     *streams
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	err = s.of.wire.redact(s.why(err))
	if result := resultOf(nil, err); result != resultCanceled {
		s.of.wire.onFail(fleet.Reason(result))
	}
	s.finish()
	return n, err
}

func (s *stream) Close() error {
	defer s.finish()
	return s.ReadCloser.Close()
}

// why tells our own reasons for ending a stream, which show as a cancellation.
func (s *stream) why(err error) error {
	if cause := context.Cause(s.ctx); errors.Is(cause, errReplaced) || errors.Is(cause, errNoAnswer) {
		return cause
	}
	return err
}

func (s *stream) finish() {
	s.cancel(nil)
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.open, s)
}
