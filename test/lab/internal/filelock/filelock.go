// SPDX-License-Identifier: Apache-2.0

// Package filelock keeps processes out of each other's way. The kernel gives a
// lock back when its holder dies, so none outlives a crash.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrHeld says that somebody else holds the lock.
var ErrHeld = errors.New("the lock is held by another process")

// Lock takes the exclusive lock of the file at path, which it creates with its
// folders, and waits for as long as somebody else holds it.
func Lock(path string) (unlock func(), err error) {
	return take(path, syscall.LOCK_EX)
}

// TryLock is Lock that does not wait: it returns ErrHeld instead.
func TryLock(path string) (unlock func(), err error) {
	return take(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

func take(path string, how int) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("creating the lock's folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return func() { _ = file.Close() }, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrHeld
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
