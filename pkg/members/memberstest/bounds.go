// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"runtime"
	"testing"
	"time"
)

// Within holds what is done with so many bytes of an answer to bounds that no answer may break: 10 s on a busy machine, and an allocation
// of 64 MiB and 128 times its size. What is decoded may take 16 MiB and 64 times its size (package guard).
func Within(t testing.TB, size int, decode func()) {
	t.Helper()
	const patience, base, each = 10 * time.Second, 64 << 20, 128
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() { // a panic ends the test as well
		defer close(done)
		decode()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%d bytes are still being decoded after %v", size, patience)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > base+each*uint64(size) {
		t.Errorf("%d bytes were allocated to decode %d", took, size)
	}
}

// Weighs holds decoding to what was said that it allocates, beside the words of an error. What is initialized once does not count.
func Weighs(t testing.TB, said int64, decode func()) {
	t.Helper()
	const words = 1 << 10
	took := int64(0)
	for range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		decode()
		runtime.ReadMemStats(&after)
		if took = int64(after.TotalAlloc - before.TotalAlloc); took <= said+words {
			return
		}
	}
	t.Errorf("%d bytes were allocated, and %d had been said", took, said)
}
