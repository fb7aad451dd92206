// SPDX-License-Identifier: Apache-2.0

package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

const modulePath = "github.com/fleetscale/fleetscale/test"

// moduleDir finds the Go module that holds the programs' sources: where this
// very file was compiled, or else at or above the working directory.
func moduleDir() (string, error) {
	var starts []string
	if _, file, _, ok := runtime.Caller(0); ok {
		starts = append(starts, filepath.Dir(file))
	}
	if cwd, err := os.Getwd(); err == nil {
		starts = append(starts, cwd, filepath.Join(cwd, "test"))
	}
	for _, dir := range starts {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if isModule(dir) {
				return dir, nil
			}
		}
	}
	return "", errors.New("finding the sources of the lab's programs: run this in a checkout of fleetscale")
}

func isModule(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(data) == modulePath
}

// cacheKey names what comes out of a build by all that goes into it: compiler,
// platform, flags, versions of the modules and our own sources.
func cacheKey(tests, module string, g Group) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, g.steps)
	if len(g.tests) > 0 {
		fmt.Fprintln(sum, g.tests)
	}
	if err := hashVersions(sum, filepath.Join(module, "go.mod")); err != nil {
		return "", fmt.Errorf("reading the versions of the lab's programs: %w", err)
	}
	for _, dir := range g.sources {
		if err := hashSources(sum, filepath.Join(tests, "lab", dir)); err != nil {
			return "", fmt.Errorf("reading the sources of the lab's programs: %w", err)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}

// hashVersions adds the module versions: go.mod names every one of them, also
// the indirect ones. The repository's own modules have none.
func hashVersions(sum hash.Hash, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(path, data, nil)
	if err != nil {
		return err
	}
	for _, require := range mod.Require {
		if !strings.HasPrefix(modulePath, require.Mod.Path) {
			fmt.Fprintln(sum, require.Mod)
		}
	}
	for _, replace := range mod.Replace {
		if !strings.HasPrefix(modulePath, replace.Old.Path) {
			fmt.Fprintln(sum, replace.Old, replace.New)
		}
	}
	return nil
}

func hashSources(sum hash.Hash, root string) error {
	return fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n%s", path, len(data), data)
		return nil
	})
}
