// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goMod is what this program is made with.
//
//go:embed go.mod
var goMod []byte

// required is a module of this program's go.mod.
func required(path string) (debug.Module, error) {
	mod, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return debug.Module{}, err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == path {
			return debug.Module{Path: path, Version: r.Mod.Version}, nil
		}
	}
	return debug.Module{}, fmt.Errorf("go.mod does not require %s", path)
}

// places are where Go keeps what it builds from.
type places struct{ modules, root string }

func readPlaces(ctx context.Context, root string, env []string) (places, error) {
	text, err := output(ctx, root, env, "go", "env", "GOMODCACHE", "GOROOT")
	if err != nil {
		return places{}, err
	}
	modules, goroot, _ := strings.Cut(text, "\n")
	return places{modules, goroot}, nil
}

// folder is where the source of a module is.
func (p places) folder(m debug.Module) (string, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	return filepath.Join(p.modules, filepath.FromSlash(path)+"@"+version), err
}

// licences are the files that go wherever a program goes: our own licence, and those of all that it is made of, and of others that
// come with it. They ask for that.
func licences(root string, from places, b binary, others ...debug.Module) ([]file, error) {
	own, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	all := slices.Concat(modules(b.info), others)
	slices.SortFunc(all, func(a, b debug.Module) int { return cmp.Compare(a.Path, b.Path) })
	var text bytes.Buffer
	if err := quote(&text, "Go "+b.info.GoVersion, from.root); err != nil {
		return nil, err
	}
	for _, m := range all {
		folder, err := from.folder(m)
		if err != nil {
			return nil, err
		}
		if err := quote(&text, m.Path+" "+m.Version, folder); err != nil {
			return nil, err
		}
	}
	return []file{{"licenses/LICENSE", 0o644, own}, {"licenses/THIRD_PARTY", 0o644, text.Bytes()}}, nil
}

// quote appends what a folder says of the rights to what is in it.
func quote(to *bytes.Buffer, what, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the licence of %s: %w", what, err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return fmt.Errorf("reading the licence of %s: %w", what, err)
		}
		found = true
		fmt.Fprintf(to, "==== %s: %s\n\n%s\n", what, e.Name(), content)
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", what, folder)
	}
	return nil
}

func isLicence(name string) bool {
	return slices.ContainsFunc([]string{"LICEN", "COPYING", "NOTICE", "PATENTS"}, func(begin string) bool {
		return strings.HasPrefix(strings.ToUpper(name), begin)
	})
}
