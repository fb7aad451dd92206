// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
)

// group is a cgroup of the node, in one hierarchy.
type group struct {
	dir, parent string
	hierarchy   cgroup.Hierarchy
}

// groupsCalled are those below our own, or in version 2 below the root, since our own has processes.
func groupsCalled(name string) ([]group, error) {
	hierarchies, err := cgroup.Hierarchies()
	if err != nil {
		return nil, err
	}
	groups := make([]group, 0, len(hierarchies))
	for _, h := range hierarchies {
		in := h.Own
		if h.Unified {
			in = h.Mount
		}
		groups = append(groups, group{dir: filepath.Join(in, name), parent: h.Own, hierarchy: h})
	}
	return groups, nil
}

func each(groups []group, do func(group) error) error {
	for _, g := range groups {
		if err := do(g); err != nil {
			return err
		}
	}
	return nil
}

func (g group) enter() error {
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return err
	}
	if g.hierarchy.Has("cpuset") && !g.hierarchy.Unified {
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // a new one has none
			value, err := os.ReadFile(filepath.Join(filepath.Dir(g.dir), file))
			if err == nil {
				err = os.WriteFile(filepath.Join(g.dir, file), value, 0o644)
			}
			if err != nil {
				return err
			}
		}
	}
	return join0(g.dir)
}

func (g group) leave() error { return join0(g.parent) }

// join0 moves this process into a group.
func join0(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0o644)
}

// startSweep starts what removes the groups once the file is closed, by us or by the kernel.
func startSweep(groups []group) (*os.File, error) {
	args := []string{"sweep"}
	for _, g := range groups {
		args = append(args, g.dir)
	}
	until, held, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting to sweep: %w", err)
	}
	defer func() { _ = until.Close() }()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = until, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting to sweep: %w", err), held.Close())
	}
	return held, nil
}

const (
	sweepTimeout  = 30 * time.Second
	sweepInterval = 50 * time.Millisecond
)

// sweep removes the groups of these folders, and all below, as soon as the processes in them have ended.
func sweep(dirs []string) error {
	_, _ = os.Stdin.Read(make([]byte, 1)) // it says nothing, but ends
	expired := time.After(sweepTimeout)
	for {
		var errs []error
		for _, dir := range dirs {
			errs = append(errs, removeGroup(dir))
		}
		err := errors.Join(errs...)
		if err == nil {
			return nil
		}
		select {
		case <-expired:
			return fmt.Errorf("removing cgroups: %w", err)
		case <-time.After(sweepInterval):
		}
	}
}

// removeGroup removes the innermost first. The files of a group go with it.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeGroup(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	return syscall.Rmdir(dir)
}
