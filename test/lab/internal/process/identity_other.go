// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// identify returns when the process was born, in a form that only compares
// for equality, and its one-letter state as ps shows it.
func identify(pid int) (birth string, state byte, err error) {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", 0, fmt.Errorf("asking ps for process %d: %w", pid, err)
	}
	stat, start, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !found {
		return "", 0, fmt.Errorf("asking ps for process %d: got %q", pid, out)
	}
	return strings.TrimSpace(start), stat[0], nil
}
