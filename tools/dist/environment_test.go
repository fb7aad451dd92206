// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever is set for Go, in the environment or by go env -w, a build sees the settings, and where modules come from and are kept.
func TestEnvironment(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "env", "GOPROXY=https://proxy.example.com\nGOMODCACHE="+folder+"/written\nGOAMD64=v3\nGOFIPS140=latest\n")
	t.Setenv("GOENV", filepath.Join(folder, "env"))
	t.Setenv("GOMODCACHE", "")
	t.Setenv("GOPROXY", "")
	for _, variable := range []string{"GOFIPS140=v1.0.0", "GO111MODULE=off", "GO_EXTLINK_ENABLED=1", "GOCOMPILEDEBUG=dumpptrs",
		"GODEBUG=x509sha1=1", "GOARM64=v9.0", "GOEXPERIMENT=arenas", "CGO_ENABLED=1", "GOFLAGS=-tags=other", "GOPRIVATE=example.com",
		"GOOGLE_X=kept"} {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	env, err := readEnvironment(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		got[name] = value
	}
	want := map[string]string{
		"GOPROXY": "https://proxy.example.com", "GOMODCACHE": folder + "/written", "GOPRIVATE": "example.com", "GOOGLE_X": "kept",
		"GOENV": "off", "GOFIPS140": "off", "GOAMD64": "v1", "GOARM64": "v8.0", "GOFLAGS": "", "GODEBUG": "",
		"GOEXPERIMENT": "", "CGO_ENABLED": "0",
	}
	for _, name := range []string{"GO111MODULE", "GO_EXTLINK_ENABLED", "GOCOMPILEDEBUG", "GOROOT", "GOOS"} {
		if value, set := got[name]; set {
			t.Errorf("%s is %q, want it not set", name, value)
		}
	}
	maps.DeleteFunc(got, func(name, _ string) bool { _, asked := want[name]; return !asked })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}

	p, err := readPlaces(t.Context(), folder, env)
	if err != nil || p.modules != folder+"/written" {
		t.Errorf("modules are sought in %s, error %v", p.modules, err)
	}
}
