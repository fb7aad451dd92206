// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"time"
)

// drained ends some time after ctx. The hub keeps connections, and a request that
// it sends on one in the moment in which we close that is refused: it may not be
// sent twice. So we go on answering for a while, and each answer tells the hub to
// use its connection no more.
func drained(ctx context.Context, after time.Duration) context.Context {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(after, end) })
	return later
}

// lastly makes h tell clients to open a new connection next time, once ctx has ended.
func lastly(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}
