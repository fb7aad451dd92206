// SPDX-License-Identifier: Apache-2.0

// Package commandtest holds what the tests of all programs have in common.
package commandtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// ManifestFlags fails the test where a manifest below the folders passes a flag
// that the command does not know, or with a value that it does not take, and
// where none passes any. Manifests for which skip is true are others'.
func ManifestFlags(t *testing.T, command func() *cobra.Command, skip func(file string) bool, folders ...string) {
	t.Helper()
	flag := regexp.MustCompile(`(?m)^ +(?:-|value:) (--[a-z-]+(?:=.*)?)$`)
	found := 0
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".yaml" || skip(file) {
				return err
			}
			text, err := os.ReadFile(file)
			for _, match := range flag.FindAllStringSubmatch(string(text), -1) {
				found++
				if err := command().ParseFlags(match[1:]); err != nil {
					t.Errorf("%s passes %s: %v", file, match[1], err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 2 {
		t.Errorf("found %d flags in the manifests; is the pattern still right?", found)
	}
}

// None skips no manifest.
func None(string) bool { return false }
