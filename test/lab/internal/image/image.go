// SPDX-License-Identifier: Apache-2.0

// Package image writes images of containers that hold one program each, so that a node needs no registry.
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Write writes an image called ref, such as registry.test/pause:1, as the archive that "docker save" makes. It holds the
// program of that file, which must be statically linked, and runs it.
func Write(w io.Writer, ref, program string) error {
	content, err := os.ReadFile(program)
	if err == nil {
		err = static(content)
	}
	if err != nil {
		return fmt.Errorf("writing image %s of %s: %w", ref, program, err)
	}
	if err := write(w, ref, "/"+filepath.Base(program), content); err != nil {
		return fmt.Errorf("writing image %s of %s: %w", ref, program, err)
	}
	return nil
}

// static refuses what needs a library or an interpreter: the image has none.
func static(program []byte) error {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return fmt.Errorf("it is dynamically linked; build it with CGO_ENABLED=0")
		}
	}
	return nil
}

func write(w io.Writer, ref, path string, program []byte) error {
	var layer bytes.Buffer
	if err := archive(&layer, file{path[1:], 0o755, program}); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{path}},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": name, "RepoTags": []string{ref}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	return archive(w, file{"layer.tar", 0o644, layer.Bytes()}, file{name, 0o644, config}, file{"manifest.json", 0o644, manifest})
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func archive(w io.Writer, files ...file) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		if err := out.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content))}); err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return out.Close()
}
