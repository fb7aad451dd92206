// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"fmt"
	"os"
)

// identify returns when the process was born, in a form that only compares
// for equality, and its one-letter state as ps shows it. A process is a zombie
// only once all of its threads have ended: until then it holds its ports.
func identify(pid int) (birth string, state byte, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// The name, in parentheses, may hold anything; what follows it may not.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const stateField, threadsField, startTimeField = 0, 17, 19 // fields 3, 20 and 22 of proc(5)
	if len(fields) <= startTimeField {
		return "", 0, fmt.Errorf("reading /proc/%d/stat: %d fields after the name, want more than %d", pid, len(fields), startTimeField)
	}
	if state = fields[stateField][0]; state == 'Z' && string(fields[threadsField]) != "1" {
		state = 'R'
	}
	return string(fields[startTimeField]), state, nil
}
