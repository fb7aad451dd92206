// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
)

// Limits are what the kernel lets a container use. None is 0.
type Limits struct{ MilliCPU, Memory int64 }

// LimitsOf reads those of a container of a real node. Its ID is as its status has it, such as containerd://6b1d.
func LimitsOf(containerID string) (Limits, error) {
	_, id, _ := strings.Cut(containerID, "://")
	hierarchies, err := cgroup.Hierarchies()
	if err != nil {
		return Limits{}, err
	}
	l, err := limitsIn(hierarchies, id)
	if err != nil {
		return Limits{}, fmt.Errorf("reading the limits of container %s: %w", id, err)
	}
	return l, nil
}

func limitsIn(hierarchies []cgroup.Hierarchy, id string) (l Limits, err error) {
	for _, h := range hierarchies {
		if h.Unified {
			return unifiedLimits(h, id)
		}
		if h.Has("cpu") {
			l.MilliCPU, err = quota(h, id)
		}
		if h.Has("memory") && err == nil {
			l.Memory, err = memoryLimit(h, id)
		}
		if err != nil {
			return Limits{}, err
		}
	}
	return l, nil
}

func quota(h cgroup.Hierarchy, id string) (int64, error) {
	quota, err := numbersIn(h, id, "cpu.cfs_quota_us")
	if err != nil || quota[0] < 0 {
		return 0, err
	}
	period, err := numbersIn(h, id, "cpu.cfs_period_us")
	if err != nil {
		return 0, err
	}
	return quota[0] * 1000 / period[0], nil
}

// unlimited is where the kernel's own words for no limit begin.
const unlimited = 1 << 62

func memoryLimit(h cgroup.Hierarchy, id string) (int64, error) {
	limit, err := numbersIn(h, id, "memory.limit_in_bytes")
	if err != nil || limit[0] > unlimited {
		return 0, err
	}
	return limit[0], nil
}

func unifiedLimits(h cgroup.Hierarchy, id string) (Limits, error) {
	cpu, cpuErr := numbersIn(h, id, "cpu.max")
	memory, memoryErr := numbersIn(h, id, "memory.max")
	if err := errors.Join(cpuErr, memoryErr); err != nil {
		return Limits{}, err
	}
	var l Limits
	if len(cpu) == 2 && cpu[0] < unlimited {
		l.MilliCPU = cpu[0] * 1000 / cpu[1]
	}
	if memory[0] < unlimited {
		l.Memory = memory[0]
	}
	return l, nil
}

// numbersIn reads a file of the group of a container. The word max is a number that nothing reaches.
func numbersIn(h cgroup.Hierarchy, id, file string) ([]int64, error) {
	dir, err := groupOf(h, id)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for _, word := range strings.Fields(strings.ReplaceAll(string(text), "max", strconv.Itoa(1<<63-1))) {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		numbers = append(numbers, number)
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	return numbers, nil
}

// groupOf finds the group that is called as the container. Others come and go meanwhile.
func groupOf(h cgroup.Hierarchy, id string) (string, error) {
	found := ""
	err := filepath.WalkDir(h.Mount, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() && entry.Name() == id {
			found = path
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if found == "" {
		return "", fmt.Errorf("no cgroup is called %q", id)
	}
	return found, nil
}
