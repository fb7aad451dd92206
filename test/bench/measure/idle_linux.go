// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// InIdleTime runs work on a thread of its own that computes only while nobody else wants to, and returns, or panics, as work does: a load
// on a machine that it shares with what is measured.
func InIdleTime(work func()) {
	const leastPriority = 19
	var thrown any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { thrown = recover() }()
		runtime.LockOSThread() // without end: the thread ends with the goroutine, so nothing else inherits its priority
		// If that is refused, the work is done all the same.
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), leastPriority)
		work()
	}()
	if <-done; thrown != nil {
		panic(thrown)
	}
}
