// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

func TestPause(t *testing.T) {
	wary := patience{wait: 10 * time.Second, wary: true}
	tests := map[string]struct {
		patience patience
		doubts   []time.Duration // when requests fail
		wakes    []time.Duration
		want     time.Duration
	}{
		"as long as it was told":       {patience: wary, want: 10 * time.Second},
		"a failed request shortens it": {patience: wary, doubts: []time.Duration{5 * time.Second}, want: 5 * time.Second},
		"not below a second, however many fail": {patience: wary,
			doubts: []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 900 * time.Millisecond}, want: time.Second},
		"nothing is lengthened": {patience: patience{wait: 500 * time.Millisecond, wary: true},
			doubts: []time.Duration{100 * time.Millisecond}, want: 500 * time.Millisecond},
		"a member that fails anyway is not asked sooner": {patience: patience{wait: 8 * time.Second}, doubts: []time.Duration{2 * time.Second},
			want: 8 * time.Second},
		"a change ends it": {patience: wary, wakes: []time.Duration{3 * time.Second}, want: 3 * time.Second},
		"a change ends what has no end, and nothing else": {patience: patience{}, doubts: []time.Duration{time.Second},
			wakes: []time.Duration{time.Hour}, want: time.Hour},
		"what was doubted before counts no more": {patience: wary, doubts: []time.Duration{0}, want: 10 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &entry{wake: make(chan struct{}, 1), doubt: make(chan struct{}, 1)}
				at := func(d time.Duration, ch chan struct{}) {
					if d == 0 {
						poke(ch)
						return
					}
					time.AfterFunc(d, func() { poke(ch) })
				}
				for _, d := range tc.doubts {
					at(d, e.doubt)
				}
				for _, d := range tc.wakes {
					at(d, e.wake)
				}
				start := time.Now()
				if !e.pause(t.Context(), tc.patience) {
					t.Fatal("pause() says that the entry has ended")
				}
				if got := time.Since(start); got != tc.want {
					t.Errorf("pause() took %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestPauseEnds(t *testing.T) {
	e := &entry{wake: make(chan struct{}, 1), doubt: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e.pause(ctx, patience{}) {
		t.Error("pause() continues after the entry has ended")
	}
}

func TestFailedRequestsHastenOnlyTheProbesOfAReadyMember(t *testing.T) {
	r := New(Options{})
	e := newEntry(fromSecret("east"), "east", registration.Registration{}, r.options)
	r.entries[e.key] = e
	if p := r.conclude(t.Context(), e, finding{uid: "1"}); !p.wary {
		t.Error("a failed request would not bring the next probe of a ready member forward")
	}
	if p := r.conclude(t.Context(), e, finding{silence: silenceOfCode(503)}); p.wary {
		t.Error("failed requests would undo the back-off of a failing member")
	}
}
