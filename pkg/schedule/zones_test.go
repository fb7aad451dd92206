// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"go/build"
	"io/fs"
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
	archive := openZones(t)
	defer archive.Close()
	zones := map[string][]byte{}
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") {
			zones[file.Name] = content(t, archive, file.Name)
		}
	}
	if len(zones) < 500 {
		t.Fatalf("found %d zones, want some 600", len(zones))
	}
	return zones
}

// located finds a zone in the same data, which may differ from what is
// installed on this machine: it holds rules where others list every change.
func located(t testing.TB, name string) *time.Location {
	t.Helper()
	archive := openZones(t)
	defer archive.Close()
	zone, err := time.LoadLocationFromTZData(name, content(t, archive, name))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func openZones(t testing.TB) *zip.ReadCloser {
	t.Helper()
	archive, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatalf("reading the zones of the Go tree in GOROOT: %v", err)
	}
	return archive
}

func content(t testing.TB, archive *zip.ReadCloser, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(archive, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
