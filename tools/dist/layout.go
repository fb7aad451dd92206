// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// What names the image in a layout: the first is containerd's, the second OCI's, for the tag.
const (
	refAnnotation = "io.containerd.image.name"
	tagAnnotation = "org.opencontainers.image.ref.name"
)

// layoutSuffix ends the names of files that hold an image as an OCI layout, which ctr, kind, skopeo and podman read.
const layoutSuffix = ".oci.tar"

// writeLayout writes an image as one file.
func writeLayout(file string, i image, at time.Time) error {
	folder, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	to, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(i.index, layout.WithAnnotations(map[string]string{refAnnotation: i.ref(), tagAnnotation: i.tag})); err != nil {
		return err
	}
	return create(file, func(w io.Writer) error { return pack(w, os.DirFS(folder), at) })
}

// pack writes the files of a folder as an archive, one after the other: images are large.
func pack(w io.Writer, folder fs.FS, at time.Time) error {
	out := tar.NewWriter(w)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := folder.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: info.Size(), ModTime: at, Format: tar.FormatPAX}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return err
	})
	return errors.Join(err, out.Close())
}

// unpack writes the files of an archive into a folder, and none beyond it.
func unpack(file, folder string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for in := tar.NewReader(f); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		out, err := root.Create(header.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		if err := errors.Join(err, out.Close()); err != nil {
			return fmt.Errorf("unpacking %s: %w", file, err)
		}
	}
}
