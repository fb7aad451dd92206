// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	karmadaModule = "github.com/karmada-io/karmada"
	karmadaFolder = "karmada"
)

// Karmada are the programs of a Karmada control plane, and its agent, as that version of Karmada builds them: with versions of
// Kubernetes' libraries that are its own.
func Karmada() Group {
	programs := []string{"aggregated-apiserver", "controller-manager", "scheduler", "webhook", "agent"}
	packages := make([]string, len(programs))
	for i, program := range programs {
		packages[i] = karmadaModule + "/cmd/" + program
	}
	return Group{
		module: karmadaFolder,
		steps:  []step{{programs: programs, packages: packages, flags: []string{"-ldflags", "-s -w"}}},
		first:  "six minutes",
	}
}

// KarmadaTests are Karmada's own end-to-end tests, base.test, and what they run.
func KarmadaTests() Group {
	flags := []string{"-ldflags", "-s -w"}
	return Group{
		module: karmadaFolder,
		steps:  []step{{programs: []string{"karmadactl"}, packages: []string{karmadaModule + "/cmd/karmadactl"}, flags: flags}},
		tests: []step{{
			programs: []string{"the end-to-end tests of Karmada"}, packages: []string{karmadaModule + "/test/e2e/suites/base"}, flags: flags,
		}},
		first: "six minutes",
	}
}

// KarmadaFiles returns the folder of the files of Karmada: its kinds and manifests are in it.
func KarmadaFiles(ctx context.Context) (string, error) {
	tests, err := moduleDir()
	if err != nil {
		return "", err
	}
	// It is in no module cache before its first download, which is what "go list" of a package causes.
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", karmadaModule+"/pkg/version")
	cmd.Dir = filepath.Join(tests, karmadaFolder)
	out, err := cmd.Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return "", fmt.Errorf("finding the files of Karmada: %w: %s", err, exit.Stderr)
	}
	if err != nil {
		return "", explain(err)
	}
	return strings.TrimSpace(string(out)), nil
}
