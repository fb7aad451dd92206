// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"runtime"
	"testing"
	"time"
)

// Within holds what is done with so many bytes of an answer to bounds that no answer may break: 2 s, and an allocation of 4 MiB and of
// 256 times its size. That is what an object takes of which nothing is known but that it exists.
func Within(t testing.TB, size int, decode func()) {
	t.Helper()
	const patience, base, each = 2 * time.Second, 4 << 20, 256
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
