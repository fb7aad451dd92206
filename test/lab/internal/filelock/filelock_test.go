// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTryLockTellsThatTheLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrHeld) {
		t.Errorf("TryLock of a held lock: error = %v, want %v", err, ErrHeld)
	}
	unlock()
	unlock, err = TryLock(path)
	if err != nil {
		t.Fatalf("TryLock of a lock that was given back: %v", err)
	}
	unlock()
}

func TestLockWaitsForTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	var givenBack atomic.Bool
	var second sync.WaitGroup
	second.Go(func() {
		unlock, err := Lock(path)
		if err != nil {
			t.Errorf("Lock: %v", err)
			return
		}
		if !givenBack.Load() {
			t.Error("two have the lock")
		}
		unlock()
	})
	for range 100 { // a chance for the second to come in between
		runtime.Gosched()
	}
	givenBack.Store(true)
	unlock()
	second.Wait()
}
