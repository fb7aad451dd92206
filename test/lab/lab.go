// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fleetscale/fleetscale/test/lab/internal/ports"
	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

// Lab is a running lab. Its methods may be called from many goroutines.
type Lab struct {
	dir   string
	table process.Table

	mu       sync.Mutex
	state    state
	clusters []*Cluster // the hub first; nothing is ever taken out
	owner    *owner     // nil for a lab that another process started
}

// Load attaches to the lab in dir, which some other process started.
func Load(dir string) (*Lab, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the lab's folder: %w", err)
	}
	table := process.Open(dir)
	if _, err := table.Records(); errors.Is(err, process.ErrNoTable) {
		return nil, fmt.Errorf("no lab is up in %s; start one with \"lab up --dir %s\"", dir, dir)
	} else if err != nil {
		return nil, err
	}
	s, err := readState(dir)
	if err != nil {
		return nil, err
	}
	l := &Lab{dir: dir, table: table, state: s}
	for i := range s.Clusters {
		l.adopt(&s.Clusters[i])
	}
	return l, nil
}

func (l *Lab) adopt(c *Cluster) {
	c.lab = l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clusters = append(l.clusters, c)
}

// Dir is the lab's folder.
func (l *Lab) Dir() string { return l.dir }

// Hub returns the hub.
func (l *Lab) Hub() *Cluster {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clusters[0]
}

// Members returns the member clusters in the order in which they came.
func (l *Lab) Members() []*Cluster {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.clusters[1:])
}

// Cluster returns the hub or the member of that name.
func (l *Lab) Cluster(name string) (*Cluster, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, c := range l.clusters {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("no cluster is called %q; there are %q", name, names)
}

// Kubeconfig is a file with one context for each cluster, named as the cluster
// is. The hub's is the current one.
func (l *Lab) Kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }

// Kubectl returns kubectl, not yet started, with the lab's kubeconfig:
//
//	out, err := l.Kubectl(ctx, "--context", "member1", "top", "pods").Output()
func (l *Lab) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.program("kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig())
	return cmd
}

func (l *Lab) program(name string) string { return programPath(l.state.Programs, name) }

func (l *Lab) logPath(process string) string {
	return filepath.Join(l.dir, "logs", process+".log")
}

// FreePorts reserves n ports of 127.0.0.1 for as long as the lab is up. No
// other lab of this user gets them, even while nobody listens there.
func (l *Lab) FreePorts(n int) ([]int, error) {
	book, err := portBook()
	if err != nil {
		return nil, err
	}
	return book.Reserve(n, l.table.Path())
}

// portBook is one for all labs of this user.
func portBook() (ports.Book, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ports.Book{}, fmt.Errorf("finding the register of ports (set XDG_CACHE_HOME): %w", err)
	}
	return ports.Book{Path: filepath.Join(cache, "fleetscale", "lab", "ports.json")}, nil
}

// Down ends every process of the lab, also frozen ones, and deletes its data.
// Logs and kubeconfigs stay. A lab that is down already is no error.
func (l *Lab) Down() error {
	if err := l.table.EndAll(); err != nil {
		return fmt.Errorf("ending the lab in %s: %w", l.dir, err)
	}
	if err := os.RemoveAll(filepath.Join(l.dir, "etcd")); err != nil {
		return fmt.Errorf("deleting the lab's data: %w", err)
	}
	return l.Release()
}

// Down is [Lab.Down] for a lab of which only the folder is known; it also
// ends one whose start was cut off. Where there is none, it does nothing.
func Down(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("finding the lab's folder: %w", err)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return (&Lab{dir: dir, table: process.Open(dir)}).Down()
}
