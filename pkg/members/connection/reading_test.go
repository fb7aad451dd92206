// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestDecodeEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, never := NewReading(), make(chan struct{})
		hang := func([]byte) (int, error) { <-never; return 1, nil }
		attempt := func() (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			_, err := Decode(ctx, r, nil, hang)
			return time.Since(begin), err
		}
		var took []time.Duration
		for range mostStuck + 2 {
			d, err := attempt()
			if silence, _ := fleet.Classify(err); silence == nil || silence.Reason != fleet.ReasonBadAnswer {
				t.Errorf("error %v, want BadAnswer", err)
			}
			took = append(took, d)
		}
		want := []time.Duration{time.Second, time.Second, time.Second, time.Second, 0, 0}
		fleettest.Same(t, "how long attempts took", want, took)
		close(never)
		synctest.Wait()
		if got, err := Decode(t.Context(), r, nil, hang); got != 1 || err != nil {
			t.Errorf("after the decoders came back: %d, %v", got, err)
		}
	})
}

func TestDecodeBoundsDecoders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, never := NewReading(), make(chan struct{})
		begun := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 100 {
			go func() {
				_, _ = Decode(ctx, r, nil, func([]byte) (int, error) { begun++; <-never; return 0, nil })
			}()
			synctest.Wait()
		}
		if begun != mostReading {
			t.Errorf("%d decoders run at once, want %d", begun, mostReading)
		}
		<-ctx.Done()
		synctest.Wait()
		close(never)
		synctest.Wait()
		if stuck := r.stuck.Load(); stuck != 0 {
			t.Errorf("%d count as stuck after all came back", stuck)
		}
	})
}

func TestDecodeTellsWhyItWasCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("left")
		ctx, cancel := context.WithCancelCause(t.Context())
		r, never := NewReading(), make(chan struct{})
		defer close(never)
		go cancel(left)
		if _, err := Decode(ctx, r, nil, func([]byte) (int, error) { <-never; return 0, nil }); !errors.Is(err, left) {
			t.Errorf("error %v, want %v", err, left)
		}
	})
}
