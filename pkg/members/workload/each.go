// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"sync"
	"time"
)

// Each calls f for all at once, with a deadline that they share, and waits for them.
func Each[T any](ctx context.Context, timeout time.Duration, list []T, f func(context.Context, *T)) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { f(ctx, &list[i]) })
	}
	all.Wait()
}
