// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// In a container our program is process 1: what a plugin leaves behind becomes its child, and would be a zombie until it ends.
func TestWhatAPluginLeavesBehindIsReaped(t *testing.T) {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
	set := func(on uintptr) {
		if _, _, err := syscall.Syscall(syscall.SYS_PRCTL, setChildSubreaper, on, 0); err != 0 {
			t.Fatalf("becoming the parent of orphans, as Linux allows since 3.4: %v", err)
		}
	}
	set(1)
	defer set(0)
	plugin, dir := script(t, `(sleep 600 & echo $! >$D/child; wait) >/dev/null 2>&1 & while [ ! -s $D/child ]; do sleep 0.02; done; `+yields)
	if _, err := programFrom(t, plugin).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "no such process", func() string {
		if err := syscall.Kill(child, 0); err != nil {
			return err.Error()
		}
		return "it is there"
	})
}
