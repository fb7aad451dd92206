// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is one of this machine, measured from outside. It needs Linux.
type Process int

// CPU is the time that the process has used so far, in steps of 10 ms.
func (p Process) CPU() (time.Duration, error) {
	data, err := os.ReadFile(p.file("stat"))
	if err != nil {
		return 0, fmt.Errorf("reading the cpu time of a process: %w", err)
	}
	return cpuOf(data)
}

// ticks per second, on every Linux since 2.6.
const ticks = 100

func cpuOf(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name may hold anything
	const user, system = 11, 12                                               // fields 14 and 15 of proc(5), after the first two
	if len(fields) <= system {
		return 0, fmt.Errorf("reading the cpu time of a process: %q is too short", stat)
	}
	var sum int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the cpu time of a process: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks, nil
}

// Memory is what the process occupies of the machine's, in bytes.
type Memory struct {
	// Resident is now, Peak the most since ResetPeak.
	Resident, Peak int64
}

// Memory returns that of now.
func (p Process) Memory() (Memory, error) {
	data, err := os.ReadFile(p.file("status"))
	if err != nil {
		return Memory{}, fmt.Errorf("reading the memory of a process: %w", err)
	}
	return memoryOf(string(data))
}

func memoryOf(status string) (m Memory, err error) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		var into *int64
		switch name {
		case "VmRSS":
			into = &m.Resident
		case "VmHWM":
			into = &m.Peak
		default:
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return m, fmt.Errorf("reading the memory of a process: %w", err)
		}
		*into = n << 10
	}
	if m.Resident == 0 || m.Peak == 0 {
		return m, fmt.Errorf("reading the memory of a process: it does not say: %q", status)
	}
	return m, nil
}

// ResetPeak has the peak be counted again.
func (p Process) ResetPeak() error {
	if err := os.WriteFile(p.file("clear_refs"), []byte("5"), 0o200); err != nil {
		return fmt.Errorf("resetting the peak of a process's memory: %w", err)
	}
	return nil
}

// Descriptors counts the open files of the process, and the sockets among them.
func (p Process) Descriptors() (files, sockets int, err error) {
	entries, err := os.ReadDir(p.file("fd"))
	if err != nil {
		return 0, 0, fmt.Errorf("reading the open files of a process: %w", err)
	}
	for _, e := range entries {
		leads, err := os.Readlink(filepath.Join(p.file("fd"), e.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		files++
		if strings.HasPrefix(leads, "socket:") {
			sockets++
		}
	}
	return files, sockets, nil
}

func (p Process) file(name string) string {
	return filepath.Join("/proc", strconv.Itoa(int(p)), name)
}
