// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// opener opens a segment as it was when it was asked for.
type opener func() (io.ReadCloser, error)

// memory keeps segments in memory.
type memory struct {
	mu  sync.Mutex
	all []segment
}

// segment is written by its end only, so that what was read of it stays.
type segment struct {
	begun time.Time
	bytes []byte
}

func begunOfSegment(s segment) time.Time { return s.begun }

func (m *memory) begin(now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, segment{begun: now})
	return nil
}

func (m *memory) append(b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := &m.all[len(m.all)-1]
	last.bytes = append(last.bytes, b...)
	return nil
}

func (m *memory) prune(most int64, before time.Time) (left int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.all {
		left += int64(len(m.all[i].bytes))
	}
	if n := len(m.all); n > 0 {
		m.all[n-1].bytes = bytes.Clone(m.all[n-1].bytes) // which has room for more, and mostly ends here
	}
	for len(m.all) > 0 && (left > most || ended(m.all, before, begunOfSegment)) {
		left -= int64(len(m.all[0].bytes))
		m.all = slices.Clone(m.all[1:])
	}
	return left, nil
}

func (m *memory) readers(since time.Time) (all []opener, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range from(m.all, since, begunOfSegment) {
		all = append(all, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s.bytes)), nil })
	}
	return all, nil
}

// ended reports whether the first segment holds nothing that is not older: the next one begins where it ends.
func ended[T any](all []T, before time.Time, begun func(T) time.Time) bool {
	return len(all) > 1 && begun(all[1]).Before(before)
}

// from leaves out the segments that have ended by then.
func from[T any](all []T, since time.Time, begun func(T) time.Time) []T {
	for ended(all, since, begun) {
		all = all[1:]
	}
	return all
}

// The names of files; between them is when the segment began, in nanoseconds.
const prefix, suffix = "decisions-", ".fsr"

// files keeps segments in files.
type files struct {
	dir string
	now *os.File
}

type file struct {
	path  string
	begun time.Time
	size  int64
}

func begunOfFile(f file) time.Time { return f.begun }

func (f *files) begin(now time.Time) error {
	f.close()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(f.dir, fmt.Sprintf("%s%020d%s", prefix, now.UnixNano(), suffix))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	f.now = file
	return err
}

func (f *files) close() {
	if f.now != nil {
		_ = f.now.Close()
		f.now = nil
	}
}

func (f *files) append(b []byte) error {
	_, err := f.now.Write(b)
	return err
}

func (f *files) prune(most int64, before time.Time) (left int64, err error) {
	all, err := f.list()
	if err != nil {
		return 0, err
	}
	for i := range all {
		left += all[i].size
	}
	for len(all) > 0 && (left > most || ended(all, before, begunOfFile)) {
		if f.now != nil && all[0].path == f.now.Name() { // of others with a later time
			all = all[1:]
			continue
		}
		if err := os.Remove(all[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return left, err
		}
		left -= all[0].size
		all = all[1:]
	}
	return left, nil
}

// list returns the segments, the oldest first. What else is in the directory is somebody else's.
func (f *files) list() (all []file, err error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		number := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), prefix), suffix)
		begun, err := strconv.ParseInt(number, 10, 64)
		if err != nil || len(number)+len(prefix)+len(suffix) != len(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue // it is gone
		}
		all = append(all, file{filepath.Join(f.dir, entry.Name()), time.Unix(0, begun), info.Size()})
	}
	slices.SortFunc(all, func(a, b file) int { return a.begun.Compare(b.begun) })
	return all, nil
}

func (f *files) readers(since time.Time) (openers []opener, err error) {
	all, err := f.list()
	for _, one := range from(all, since, begunOfFile) {
		openers = append(openers, func() (io.ReadCloser, error) { return os.Open(one.path) })
	}
	return openers, err
}
