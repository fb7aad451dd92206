// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
)

// RealNodesPossible says why this machine can have no real nodes, and what to do about it; empty: it can.
func RealNodesPossible() (reason string) {
	if missing := missingPrograms(); len(missing) > 0 {
		reason = strings.Join(missing, ", ") + "; on Debian: apt-get install containerd runc containernetworking-plugins nftables"
	}
	if os.Geteuid() != 0 {
		reason = strings.TrimSuffix("they need root; "+reason, "; ")
	}
	if reason != "" {
		return reason
	}
	hierarchies, err := cgroup.Hierarchies()
	if err != nil {
		return err.Error()
	}
	if missing := missingControllers(hierarchies); len(missing) > 0 {
		return "no cgroup may limit " + strings.Join(missing, ", ")
	}
	// What init of a machine does.
	trial := exec.Command("ctr", "--version")
	trial.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS |
		syscall.CLONE_NEWIPC | syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNET}
	if err := trial.Run(); err != nil {
		return fmt.Sprintf("a process cannot get namespaces of its own: %v", err)
	}
	return ""
}

func missingPrograms() (missing []string) {
	for _, program := range []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program+" is not on PATH")
		}
	}
	if _, err := networkPlugins(); err != nil {
		missing = append(missing, err.Error())
	}
	return missing
}

func missingControllers(hierarchies []cgroup.Hierarchy) (missing []string) {
	for _, controller := range []string{"cpu", "cpuset", "memory", "pids"} {
		found := false
		for _, h := range hierarchies {
			found = found || h.Has(controller) && syscall.Access(h.Mount, 2) == nil
		}
		if !found {
			missing = append(missing, controller)
		}
	}
	return missing
}
