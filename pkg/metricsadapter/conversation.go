// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// A conversation is what a handler may do to its HTTP exchange beside
// returning an object: set headers, and hold memory until the answer is out.
// Both must happen in the goroutine of the request.
type conversation struct {
	request http.Header
	header  http.Header // of the answer
	budget  *budget
	reserve int64 // bytes held
}

type conversationKey struct{}

// withConversation wraps the innermost handler, and marks each answer as one of fleetscale's.
func (a *Adapter) withConversation(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(fleet.HubHeader, "metrics-adapter")
		c := &conversation{request: r.Header, header: w.Header(), budget: a.budget}
		defer c.release()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), conversationKey{}, c)))
	})
}

// conversationOf is nil outside of withConversation.
func conversationOf(ctx context.Context) *conversation {
	c, _ := ctx.Value(conversationKey{}).(*conversation)
	return c
}

// allowsPartial is true when the client can do with less than the whole.
func (c *conversation) allowsPartial() bool {
	return c != nil && c.request.Get(fleet.PartialHeader) == fleet.PartialAllow
}

// wantsObjects is true when the client may want the answer made into something
// else: a table, or metadata alone, which is asked for by a parameter "as".
func (c *conversation) wantsObjects() bool {
	return c == nil || strings.Contains(c.request.Get("Accept"), "as")
}

// hold reserves memory for an answer of so many items until it is written,
// together with what is held already. Where others hold too much it is 429: the
// client comes again in a second.
func (c *conversation) hold(items int, bytesPerItem int64) error {
	if c == nil {
		return nil
	}
	more := min(int64(items)*bytesPerItem, c.budget.limit) - c.reserve // a single answer is always possible
	if more <= 0 {
		return nil
	}
	if !c.budget.TryAcquire(more) {
		return apierrors.NewTooManyRequests(fmt.Sprintf(
			"answers of %d MiB are being written already; ask again, or for fewer items by namespace or label selector",
			c.budget.limit>>20), 1)
	}
	c.reserve += more
	return nil
}

func (c *conversation) release() { c.budget.Release(c.reserve) }

// What one pod of two containers takes on its way out.
const (
	// bytesPerObject: 2 KiB as Go objects, of which maps are the most, and half a KiB in JSON.
	bytesPerObject = 2560
	// bytesPerRecord: its place in the order of the answer, and its bytes in protobuf.
	bytesPerRecord = 640
)

// budget bounds the bytes of all answers that are being written.
type budget struct {
	*semaphore.Weighted
	limit int64
}

func newBudget(limit int64) *budget {
	return &budget{Weighted: semaphore.NewWeighted(limit), limit: limit}
}
