// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// binary is a program as built for a platform.
type binary struct {
	program  string
	platform platform
	path     string // of the file
	info     *buildinfo.BuildInfo
}

// file is the program's name on its platform.
func (b binary) file() string {
	if b.platform.os == "windows" {
		return b.program + ".exe"
	}
	return b.program
}

// id names a binary among all of a release, as webhook_linux_amd64.
func (b binary) id() string { return b.program + "_" + b.platform.String() }

// version is what Go knows of the product, from its tag or commit: v0.1.0, or a pseudo-version, or one of these and +dirty.
func (b binary) version() string { return b.info.Main.Version }

// settings of a build: with them the bytes depend on source and version of Go only. Whoever builds the same by hand needs all of them;
// here some only repeat what a build without anything else that is set for Go does.
// The symbol table is left out (-s -w), which is for debuggers: traces of a panic have names and lines without it.
var settings = struct{ env, flags []string }{
	env: []string{
		"CGO_ENABLED=0", "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=",
	},
	flags: []string{"-trimpath", "-buildvcs=true", "-ldflags=-s -w"},
}

// compile builds a program of root/cmd for a platform, statically linked, into a folder.
func compile(ctx context.Context, root string, env []string, program string, on platform, folder string) (binary, error) {
	b := binary{program: program, platform: on}
	b.path = filepath.Join(folder, b.id())
	args := slices.Concat([]string{"build"}, settings.flags, []string{"-o", b.path, "./cmd/" + program})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = slices.Concat(env, []string{"GOOS=" + on.os, "GOARCH=" + on.arch})
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary{}, fmt.Errorf("building %s: %w\n%s", b.id(), err, strings.TrimSpace(string(out)))
	}
	var err error
	if b.info, err = buildinfo.ReadFile(b.path); err != nil {
		return binary{}, fmt.Errorf("reading what %s is made of: %w", b.id(), err)
	}
	if b.version() == "" || b.version() == unknownVersion {
		return binary{}, fmt.Errorf("building %s: Go does not know the version of %s; is it a git clone, and no worktree of one?", b.id(), root)
	}
	return b, nil
}
