// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
)

// mountOwn gives the node what is its own. All that it writes is in memory, and gone with it: /run, and what changes in /var.
func mountOwn(hierarchies []cgroup.Hierarchy) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	for _, m := range []struct{ kind, at, options string }{
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"tmpfs", "/run", "mode=755"},
	} {
		if err := mount(m.kind, m.at, m.options); err != nil {
			return err
		}
	}
	const upper, work = "/run/var", "/run/var.work"
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	if err := mount("overlay", "/var", "lowerdir=/var,upperdir="+upper+",workdir="+work); err != nil {
		return err
	}
	if err := mountGroups(hierarchies); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	// Containers share what the kubelet mounts later.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing mounts: %w", err)
	}
	return nil
}

func mount(kind, at, options string) error {
	if err := syscall.Mount(kind, at, kind, 0, options); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", kind, at, err)
	}
	return nil
}

const groupsAt = "/sys/fs/cgroup"

// mountGroups shows the node's own groups as if they were those of a machine.
func mountGroups(hierarchies []cgroup.Hierarchy) error {
	if hierarchies[0].Unified {
		return mountUnified()
	}
	if err := mount("tmpfs", groupsAt, "mode=755"); err != nil {
		return err
	}
	for _, h := range hierarchies {
		options := strings.Join(h.Controllers, ",")
		name, named := strings.CutPrefix(options, "name=")
		if named {
			options = "none," + options
		}
		at := filepath.Join(groupsAt, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		if err := mount("cgroup", at, options); err != nil {
			return err
		}
	}
	return nil
}

// mountUnified moves this process aside: a group whose groups have limits has no processes.
func mountUnified() error {
	if err := mount("cgroup2", groupsAt, ""); err != nil {
		return err
	}
	aside := filepath.Join(groupsAt, "init")
	if err := os.Mkdir(aside, 0o755); err != nil {
		return err
	}
	if err := join0(aside); err != nil {
		return err
	}
	controllers, err := os.ReadFile(filepath.Join(groupsAt, "cgroup.controllers"))
	if err != nil {
		return err
	}
	enabled := ""
	for _, controller := range strings.Fields(string(controllers)) {
		enabled += " +" + controller
	}
	return os.WriteFile(filepath.Join(groupsAt, "cgroup.subtree_control"), []byte(enabled), 0o644)
}

// settle shows the kubelet the settings that it wants. They are those of the whole machine, so nothing is set.
func settle() error {
	const in = "/run/settings"
	if err := os.Mkdir(in, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	} {
		file := filepath.Join(in, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := syscall.Mount(file, filepath.Join("/proc/sys", name), "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("showing %s: %w", name, err)
		}
	}
	return nil
}
