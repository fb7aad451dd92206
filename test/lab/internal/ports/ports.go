// SPDX-License-Identifier: Apache-2.0

// Package ports hands out TCP ports of the loopback address so that no two
// labs of a machine meet, even where one of them has a port that is closed at
// the moment because its server is stopped.
package ports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/filelock"
)

const (
	// The range lies below the ports that Linux (from 32768) and macOS (from
	// 49152) give to outgoing connections, which would come and go between.
	first, last = 20000, 32000
	// fresh is how long a reservation holds before its owner must exist.
	fresh = 2 * time.Minute
)

// Book is the register of a machine's or user's reserved ports: a file.
type Book struct {
	Path string
}

// reservation is one port's entry.
type reservation struct {
	Owner string // path that exists for as long as the port is wanted
	Since time.Time
}

// Reserve returns n different ports that nobody listens on or has reserved.
// They stay reserved for as long as the file or folder owner exists.
func (b Book) Reserve(n int, owner string) (ports []int, err error) {
	err = b.change(func(reserved map[int]reservation) error {
		if ports, err = pick(n, reserved); err != nil {
			return err
		}
		for _, port := range ports {
			reserved[port] = reservation{Owner: owner, Since: time.Now()}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reserving %d ports: %w", n, err)
	}
	return ports, nil
}

// Release frees every port of the owner.
func (b Book) Release(owner string) error {
	err := b.change(func(reserved map[int]reservation) error {
		maps.DeleteFunc(reserved, func(_ int, r reservation) bool { return r.Owner == owner })
		return nil
	})
	if err != nil {
		return fmt.Errorf("giving ports back: %w", err)
	}
	return nil
}

func (b Book) change(change func(map[int]reservation) error) error {
	unlock, err := filelock.Lock(b.Path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	reserved, err := b.read()
	if err != nil {
		return err
	}
	if err := change(reserved); err != nil {
		return err
	}
	return b.write(reserved)
}

func pick(n int, reserved map[int]reservation) ([]int, error) {
	var ports []int
	for _, offset := range rand.Perm(last - first) {
		if len(ports) == n {
			break
		}
		port := first + offset
		if _, taken := reserved[port]; !taken && free(port) {
			ports = append(ports, port)
		}
	}
	if len(ports) < n {
		return nil, fmt.Errorf("only %d are free between %d and %d", len(ports), first, last)
	}
	return ports, nil
}

func free(port int) bool {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// read returns the reservations that still hold.
func (b Book) read() (map[int]reservation, error) {
	reserved := map[int]reservation{}
	data, err := os.ReadFile(b.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return reserved, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &reserved); err != nil {
		return nil, fmt.Errorf("reading %s (it may be deleted): %w", b.Path, err)
	}
	for port, r := range reserved {
		if time.Since(r.Since) > fresh && !exists(r.Owner) {
			delete(reserved, port)
		}
	}
	return reserved, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (b Book) write(reserved map[int]reservation) error {
	data, err := json.Marshal(reserved)
	if err != nil {
		return fmt.Errorf("encoding reserved ports: %w", err)
	}
	next := b.Path + ".next"
	if err := os.MkdirAll(filepath.Dir(next), 0o755); err != nil {
		return fmt.Errorf("writing reserved ports: %w", err)
	}
	if err := os.WriteFile(next, data, 0o644); err != nil {
		return fmt.Errorf("writing reserved ports: %w", err)
	}
	return os.Rename(next, b.Path)
}
