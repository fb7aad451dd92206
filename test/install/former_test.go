// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/lab"
)

// beforeReleases stands for the last release while there is none: the commit of 2026-11-23 whose kinds are in test/api/testdata/former.
// It is the newest before kinds, rights and overlays were changed for what will be the first release.
const beforeReleases = "b59372373f8c78994b8d0011e9946e5697f14067"

// lastRelease is the commit that people come from: that of the newest tag before this one.
func (e *env) lastRelease(t *testing.T) string {
	t.Helper()
	release, err := e.git(t.Context(), "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^")
	if err != nil {
		release = beforeReleases
	}
	commit, err := e.git(t.Context(), "rev-parse", "--verify", "--quiet", release+"^{commit}")
	if err != nil {
		t.Skipf("the last release, %s, is not in what git knows here, so it cannot be built: run this in a clone with its history "+
			"(git fetch --tags --unshallow) (%v)", release, err)
	}
	t.Logf("the last release is %s, commit %s", release, commit)
	return commit
}

func (e *env) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", e.Repository}, args...)...).Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// checkout returns a folder with the files of a commit, and its programs in bin/. It is kept in the user's cache.
func (e *env) checkout(ctx context.Context, commit string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	all := filepath.Join(cache, "fleetscale", "former")
	dir = filepath.Join(all, commit)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(all, 0o755); err != nil {
		return "", err
	}
	partial, err := os.MkdirTemp(all, commit+".")
	if err != nil {
		return "", err
	}
	if err := e.makeCheckout(ctx, partial, commit); err != nil {
		return "", errors.Join(err, os.RemoveAll(partial))
	}
	if err := os.Rename(partial, dir); err != nil { // another run may have made it meanwhile
		if _, missing := os.Stat(dir); missing != nil {
			return "", errors.Join(err, os.RemoveAll(partial))
		}
		return dir, os.RemoveAll(partial)
	}
	return dir, nil
}

func (e *env) makeCheckout(ctx context.Context, dir, commit string) error {
	index := filepath.Join(dir, "index") // of its own, as that of the repository is somebody's
	for _, args := range [][]string{{"read-tree", commit}, {"checkout-index", "--all", "--prefix=" + dir + "/"}} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", e.Repository}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	if err := os.Remove(index); err != nil {
		return err
	}
	return lab.CompileFormer(ctx, dir, os.Stderr, programsOfARelease()...)
}

func programsOfARelease() []string {
	return []string{"metrics-adapter", "webhook", "controller-manager", "kubectl-fleetscale"}
}
