// SPDX-License-Identifier: Apache-2.0

// Package fence keeps who no longer owns an object from changing it: what is sent in a context with a fence passes a transport that sends
// nothing but reads once the fence is closed, whichever client sends it, and however far the work has come.
package fence

import (
	"context"
	"fmt"
	"net/http"
)

// Fence is why nothing may be written now; nil: something may.
type Fence func() error

type key struct{}

// With returns a context in which what is written passes the fence.
func With(ctx context.Context, f Fence) context.Context { return context.WithValue(ctx, key{}, f) }

// Of returns the fence of a context; without one everything may be written.
func Of(ctx context.Context) Fence {
	if f, has := ctx.Value(key{}).(Fence); has {
		return f
	}
	return func() error { return nil }
}

// Transport sends to next what may be sent.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return t.next.RoundTrip(req)
	}
	if err := Of(req.Context())(); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("not sent: %w", err)
	}
	return t.next.RoundTrip(req)
}

// WrappedRoundTripper lets libraries unwrap the transport.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }
