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

// filesOf returns the folder of the module that a package is of, in the version that one of our modules, by its folder, requires.
func filesOf(ctx context.Context, folder, pkg string) (string, error) {
	tests, err := moduleDir()
	if err != nil {
		return "", err
	}
	// It is in no module cache before its first download, which is what "go list" of a package causes.
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", pkg)
	cmd.Dir = filepath.Join(tests, folder)
	out, err := cmd.Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return "", fmt.Errorf("finding the files of %s: %w: %s", pkg, err, exit.Stderr)
	}
	if err != nil {
		return "", explain(err)
	}
	return strings.TrimSpace(string(out)), nil
}
