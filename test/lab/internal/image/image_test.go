// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnImageHoldsItsProgram(t *testing.T) {
	var image bytes.Buffer
	if err := write(&image, "registry.test/pause:1", "/pause", []byte("program")); err != nil {
		t.Fatalf("write: %v", err)
	}
	files := unpack(t, image.Bytes())

	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(t, files["manifest.json"], &manifest)
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("manifest = %+v, want one image of one layer", manifest)
	}
	if diff := cmp.Diff([]string{"registry.test/pause:1"}, manifest[0].RepoTags); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	layer := files[manifest[0].Layers[0]]
	if diff := cmp.Diff(map[string][]byte{"pause": []byte("program")}, unpack(t, layer)); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}

	var config struct {
		Architecture, OS string
		Config           struct{ Entrypoint []string }
		RootFS           struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	text := files[manifest[0].Config]
	if want := fmt.Sprintf("%x.json", sha256.Sum256(text)); manifest[0].Config != want {
		t.Errorf("the configuration is called %s, want its digest %s", manifest[0].Config, want)
	}
	decode(t, text, &config)
	if config.Architecture != runtime.GOARCH || config.OS != "linux" {
		t.Errorf("platform = %s/%s", config.OS, config.Architecture)
	}
	if diff := cmp.Diff([]string{"/pause"}, config.Config.Entrypoint); diff != "" {
		t.Errorf("entry point (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}, config.RootFS.DiffIDs); diff != "" {
		t.Errorf("digests of layers (-want +got):\n%s", diff)
	}
}

func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	in := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

func TestWhatCannotRunIsRefused(t *testing.T) {
	tests := map[string]struct {
		program []byte
		want    string
	}{
		"a script":                {[]byte("#!/bin/sh\n" + strings.Repeat("true\n", 100)), "bad magic number"},
		"one that needs a linker": {programWith(t, elf.PT_INTERP), "dynamically linked; build it with CGO_ENABLED=0"},
		"one that needs none":     {programWith(t, elf.PT_LOAD), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, tc.program, 0o755); err != nil {
				t.Fatal(err)
			}
			err := Write(io.Discard, "registry.test/program:1", path)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Write: error = %v, want one of %q", err, tc.want)
			}
		})
	}
}

// programWith is the least that is a program with such a part.
func programWith(t *testing.T, part elf.ProgType) []byte {
	t.Helper()
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	var program bytes.Buffer
	for _, of := range []any{header, elf.Prog64{Type: uint32(part)}} {
		if err := binary.Write(&program, binary.LittleEndian, of); err != nil {
			t.Fatal(err)
		}
	}
	return program.Bytes()
}
