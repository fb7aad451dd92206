// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"runtime"
	"testing"
	"time"
)

// Within holds what is done with so many bytes of an answer to bounds that no answer may break: 10 s on a busy machine, and an allocation
// of 64 MiB and 128 times its size. What is decoded may take 16 MiB and 16 times its size (package guard); a list that grows is
// allocated some times over.
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
