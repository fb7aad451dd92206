// SPDX-License-Identifier: Apache-2.0

// Package cgroup finds the cgroup hierarchies of this machine, of version 1 or 2.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hierarchy is where some controllers are.
type Hierarchy struct {
	// Controllers are those of version 1, as they are mounted together, or the one name=NAME of a hierarchy without any. Empty
	// if it is unified.
	Controllers []string
	// Unified is true for version 2.
	Unified bool
	// Mount is the folder of its root, as far as we see, and Own that of our own group.
	Mount, Own string
}

// Has reports whether a controller is there.
func (h Hierarchy) Has(controller string) bool {
	if !h.Unified {
		return slices.Contains(h.Controllers, controller)
	}
	text, err := os.ReadFile(filepath.Join(h.Mount, "cgroup.subtree_control"))
	return err == nil && slices.Contains(strings.Fields(string(text)), controller)
}

// Hierarchies returns those of version 1 if memory is among them, and otherwise the one of version 2.
func Hierarchies() ([]Hierarchy, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("finding cgroups: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("finding cgroups: %w", err)
	}
	return parse(string(groups), string(mounts))
}

// parse reads both files as proc(5) and cgroups(7) have them.
func parse(groups, mounts string) ([]Hierarchy, error) {
	var all []Hierarchy
	var unified *Hierarchy
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		h := Hierarchy{Unified: parts[1] == ""}
		if !h.Unified {
			h.Controllers = strings.Split(parts[1], ",")
		}
		if !h.find(parts[2], mounts) {
			continue // nobody can use it here
		}
		if h.Unified {
			unified = &h
		} else {
			all = append(all, h)
		}
	}
	if slices.ContainsFunc(all, func(h Hierarchy) bool { return h.Has("memory") }) {
		return all, nil
	}
	if unified == nil {
		return nil, errors.New("no cgroup hierarchy with the controller memory is mounted")
	}
	return []Hierarchy{*unified}, nil
}

// find sets the folders, of a group by its path.
func (h *Hierarchy) find(path, mounts string) bool {
	for line := range strings.Lines(mounts) {
		before, after, found := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 5 || len(kind) < 3 || !h.mountedAs(kind[0], kind[2]) {
			continue
		}
		below, err := filepath.Rel(fields[3], path)
		if err != nil || strings.HasPrefix(below, "..") {
			continue
		}
		h.Mount, h.Own = fields[4], filepath.Join(fields[4], below)
		return true
	}
	return false
}

func (h *Hierarchy) mountedAs(kind, options string) bool {
	if h.Unified {
		return kind == "cgroup2"
	}
	given := strings.Split(options, ",")
	return kind == "cgroup" && !slices.ContainsFunc(h.Controllers, func(c string) bool { return !slices.Contains(given, c) })
}
