// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestNoPortIsGivenTwice(t *testing.T) {
	dir := t.TempDir()
	book := Book{Path: filepath.Join(dir, "ports.json")}
	given := make([][]int, 8)
	var askers sync.WaitGroup
	for i := range given {
		askers.Go(func() {
			ports, err := book.Reserve(50, dir)
			if err != nil {
				t.Errorf("Reserve: %v", err)
			}
			given[i] = ports
		})
	}
	askers.Wait()
	seen := map[int]bool{}
	for _, ports := range given {
		for _, port := range ports {
			if seen[port] || port < first || port >= last {
				t.Errorf("port %d was given twice, or is out of range", port)
			}
			seen[port] = true
		}
	}
	if len(seen) != 8*50 {
		t.Errorf("%d ports were given, want %d", len(seen), 8*50)
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if port := listener.Addr().(*net.TCPAddr).Port; free(port) {
		t.Errorf("port %d counts as free though somebody listens there", port)
	}
}

func TestReservationsEndWithTheirOwner(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-2 * fresh)
	tests := map[string]struct {
		reservation reservation
		want        bool
	}{
		"old, and its owner is there":      {reservation{dir, long}, true},
		"old, and its owner is gone":       {reservation{dir + "/gone", long}, false},
		"new, and its owner is not yet so": {reservation{dir + "/soon", time.Now()}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			book := Book{Path: filepath.Join(t.TempDir(), "ports.json")}
			if err := book.write(map[int]reservation{first: tc.reservation}); err != nil {
				t.Fatal(err)
			}
			reserved, err := book.read()
			if err != nil {
				t.Fatal(err)
			}
			if _, got := reserved[first]; got != tc.want {
				t.Errorf("still reserved: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestReleaseGivesBackOneOwnersPorts(t *testing.T) {
	dir := t.TempDir()
	book := Book{Path: filepath.Join(dir, "ports.json")}
	for _, owner := range []string{dir + "/a", dir + "/b"} {
		if _, err := book.Reserve(3, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.Release(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	reserved, err := book.read()
	if err != nil {
		t.Fatal(err)
	}
	for port, r := range reserved {
		if r.Owner != dir+"/b" {
			t.Errorf("port %d is still reserved for %s", port, r.Owner)
		}
	}
	if len(reserved) != 3 {
		t.Errorf("%d ports are reserved, want the 3 of b", len(reserved))
	}
}

func TestTooManyPortsAreRefused(t *testing.T) {
	book := Book{Path: filepath.Join(t.TempDir(), "ports.json")}
	if err := book.write(allReserved()); err != nil {
		t.Fatal(err)
	}
	_, err := book.Reserve(3, "me")
	if got, want := fmt.Sprint(err), "reserving 3 ports: only 0 are free between 20000 and 32000"; got != want {
		t.Errorf("Reserve: %s, want %s", got, want)
	}
}

func allReserved() map[int]reservation {
	reserved := map[int]reservation{}
	for port := first; port < last; port++ {
		reserved[port] = reservation{Owner: "other", Since: time.Now()}
	}
	return reserved
}
