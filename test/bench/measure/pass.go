// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"context"
	"time"
)

// Pass lets time go by. It is an error if ctx ends before.
func Pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
