// SPDX-License-Identifier: Apache-2.0

// Package filelock keeps processes out of each other's way. The kernel gives a
// lock back when its holder dies, so none outlives a crash.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrHeld says that somebody else holds the lock.
var ErrHeld = errors.New("the lock is held by another process")

// Lock takes the exclusive lock of the file at path, which it creates with its
// folders, and waits for as long as somebody else holds it.
func Lock(path string) (unlock func(), err error) {
	return take(path, func(f *flock.Flock) (bool, error) { return true, f.Lock() })
}

// TryLock is Lock that does not wait: it returns ErrHeld instead.
func TryLock(path string) (unlock func(), err error) {
	return take(path, (*flock.Flock).TryLock)
}

func take(path string, lock func(*flock.Flock) (bool, error)) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("creating the lock's folder: %w", err)
	}
	file := flock.New(path)
	switch taken, err := lock(file); {
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", path, err)
	case !taken:
		return nil, ErrHeld
	}
	return func() { _ = file.Close() }, nil
}
