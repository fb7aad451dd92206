// SPDX-License-Identifier: Apache-2.0

package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// release is what `make dist HERE=1` makes of this checkout, with what is changed in it.
type release struct {
	root   string // of the checkout
	dir    string
	tag    string // of the images
	plugin string // folder with kubectl-fleetscale
}

func programs() []string { return []string{"controller-manager", "metrics-adapter", "webhook"} }

// image is the file of a program's image.
func (r release) image(program string) string { return filepath.Join(r.dir, program+".oci.tar") }

// makeRelease works on a copy, as Go reads no version from a worktree, and another one may be built here meanwhile.
func makeRelease(t *testing.T) release {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	r := release{root: filepath.Join(folder, "checkout"), dir: filepath.Join(folder, "dist"), plugin: filepath.Join(folder, "plugin")}
	run(t, root, nil, "git", "clone", "-q", root, r.root)
	// The commit that is checked out here need not be that of a branch.
	run(t, r.root, nil, "git", "checkout", "-q", strings.TrimSpace(run(t, root, nil, "git", "rev-parse", "HEAD")))
	if changes := run(t, root, nil, "git", "diff", "--binary", "HEAD"); changes != "" {
		run(t, r.root, strings.NewReader(changes), "git", "apply")
	}
	run(t, filepath.Join(root, "tools/dist"), nil, "go", "run", ".", "build", "-here", "-root", r.root, "-out", r.dir)
	images, err := os.ReadFile(filepath.Join(r.dir, "images.txt"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(images), "@")
	r.tag = first[strings.LastIndex(first, ":")+1:]
	r.unpackPlugin(t)
	return r
}

// run returns what a program prints.
func run(t *testing.T, dir string, in io.Reader, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", program, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func (r release) unpackPlugin(t *testing.T) {
	t.Helper()
	const name = "kubectl-fleetscale"
	archives, err := filepath.Glob(filepath.Join(r.dir, name+"_*.tar.gz"))
	if err == nil && len(archives) != 1 {
		err = fmt.Errorf("there are %d archives of %s, want 1", len(archives), name)
	}
	if err == nil {
		err = os.Mkdir(r.plugin, 0o755)
	}
	if err == nil {
		err = unpack(archives[0], name, filepath.Join(r.plugin, name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unpack writes one file of an archive, which is a program.
func unpack(archive, name, to string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for in := tar.NewReader(unzipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s has no %s", archive, name)
		}
		if err != nil {
			return err
		}
		if header.Name != name {
			continue
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o755)
	}
}

// overlay writes a kustomization as people write it, whose images are ours, with more lines, and returns its folder.
func (r release) overlay(t *testing.T, of string, more ...string) string {
	t.Helper()
	folder := t.TempDir()
	base, err := filepath.Rel(folder, filepath.Join(r.root, of))
	if err != nil {
		t.Fatal(err)
	}
	text := []string{"apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization",
		"resources: [" + filepath.ToSlash(base) + "]", "images:"}
	for _, program := range programs() {
		text = append(text, "- {name: ghcr.io/fleetscale/"+program+", newTag: "+r.tag+"}")
	}
	content := strings.Join(slices.Concat(text, more, []string{""}), "\n")
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}
