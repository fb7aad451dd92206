// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// The product itself: all of a release, and the programs of this platform once more, from another folder and with nothing in the
// cache, as somebody else builds them.
func TestProduct(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in the long form, `make test-full PARTS=dist`: it compiles the programs for six platforms, twice")
	}
	folder := t.TempDir()
	root, other := filepath.Join(folder, "checkout"), filepath.Join(folder, "a folder of another length")
	product, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	git(t, folder, "clone", "-q", product, root)
	git(t, folder, "clone", "-q", root, other)
	all := release
	all.root, all.out = root, filepath.Join(folder, "out")
	if err := build(t.Context(), t.Output(), all); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", filepath.Join(folder, "cache"))
	again := small(other, filepath.Join(folder, "again"), home)
	if err := build(t.Context(), t.Output(), again); err != nil {
		t.Fatal(err)
	}
	one, two := hashes(t, all.out), hashes(t, again.out)
	for _, program := range append(slices.Clone(release.programs), release.plugin) {
		t.Run(program, func(t *testing.T) {
			archive := program + "_linux_" + runtime.GOARCH + ".tar.gz"
			if one[archive] == "" || one[archive] != two[archive] {
				t.Errorf("two builds of %s differ: %q and %q", archive, one[archive], two[archive])
			}
			content := unzip(t, filepath.Join(again.out, archive))[program]
			if bytes.Contains(content, []byte(folder)) {
				t.Error("it holds the path of the folder that it was built in")
			}
			if program != "metrics-adapter" && !bytes.Contains(content, []byte("Europe/Berlin")) {
				t.Error("it has no time zones, and neither has its image")
			}
			testVersion(t, program, content)
		})
	}
}

// testVersion: a program says of itself what Go knows of it, which is the commit that it is built from.
func testVersion(t *testing.T, program string, content []byte) {
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	want := debug.BuildSetting{Key: "vcs.revision", Value: git(t, ".", "rev-parse", "HEAD")}
	if !slices.Contains(info.Settings, want) {
		t.Errorf("it is not built from commit %s: %v", want.Value, info.Settings)
	}
	if runtime.GOOS != "linux" {
		return
	}
	file := filepath.Join(t.TempDir(), program)
	if err := os.WriteFile(file, content, 0o700); err != nil {
		t.Fatal(err)
	}
	flag := "--version"
	if program == release.plugin {
		flag = "version"
	}
	said, err := exec.CommandContext(t.Context(), file, flag).CombinedOutput()
	if err != nil || !strings.Contains(string(said), info.Main.Version) {
		t.Errorf("%s %s says %s, error %v; want %s", program, flag, said, err, info.Main.Version)
	}
}
