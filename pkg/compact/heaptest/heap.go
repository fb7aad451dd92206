// SPDX-License-Identifier: Apache-2.0

// Package heaptest measures what tests keep on the heap.
package heaptest

import (
	"runtime"
	"testing"
)

// InUse is the heap in bytes without garbage. Signed, so that a difference may be negative: other tests' garbage goes too.
func InUse() int64 {
	for range 3 { // cleanups and what is unique go with the next collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Check measures up to five times, until there is no error: what goroutines of other tests free or take meanwhile disturbs
// one measurement, and hardly five.
func Check(t testing.TB, measure func() error) {
	t.Helper()
	const most = 5
	var err error
	for range most {
		if err = measure(); err == nil {
			return
		}
		t.Log("measured again: ", err)
	}
	t.Error(err)
}
