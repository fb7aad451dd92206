// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// Run has something run until the test ends, or until it is stopped, which waits for it: it must end then, and without an error.
func Run(ctx context.Context, t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("what ran until the test ended returned %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Logged is the test's context with a logger whose text shows if the test fails.
func Logged(t testing.TB) context.Context {
	return klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true))))
}

// Eventually waits until what is seen is what is wanted.
func Eventually(t testing.TB, want string, see func() string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		got := see()
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after 30 s (-want +got):\n%s", cmp.Diff(want, got))
		}
	}
}

// Until waits until something holds.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Eventually(t, what, func() string {
		if !holds() {
			return ""
		}
		return what
	})
}
