// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"go/build"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // what the programs have
)

// tzdata returns every zone that package time/tzdata embeds, by name. The
// package keeps its data to itself; it is made from this file.
func tzdata(t testing.TB) map[string][]byte {
	t.Helper()
	archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatalf("reading the zones of the Go tree in GOROOT: %v", err)
	}
	defer archive.Close()
	zones := map[string][]byte{}
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") {
			continue
		}
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if zones[file.Name], err = io.ReadAll(content); err != nil {
			t.Fatal(err)
		}
	}
	if len(zones) < 500 {
		t.Fatalf("found %d zones, want some 600", len(zones))
	}
	return zones
}

func located(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := LoadZone(name)
	if err != nil {
		t.Fatalf("LoadZone(%q): %v", name, err)
	}
	return zone
}
