// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path"
	"slices"
	"time"
)

// file is one of an archive.
type file struct {
	name    string // a/b
	mode    int64
	content []byte
}

// archive writes files, by name, with the folders that they are in, all of root's and of one time.
func archive(w io.Writer, at time.Time, files ...file) error {
	out := tar.NewWriter(w)
	made := map[string]bool{".": true}
	var folder func(name string) error
	folder = func(name string) error {
		if made[name] {
			return nil
		}
		if err := folder(path.Dir(name)); err != nil {
			return err
		}
		made[name] = true
		return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: at, Format: tar.FormatPAX})
	}
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range files {
		if err := folder(path.Dir(f.name)); err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at, Format: tar.FormatPAX}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeArchive writes a compressed archive.
func writeArchive(path string, at time.Time, files ...file) error {
	return create(path, func(w io.Writer) error {
		zipped := gzip.NewWriter(w) // its header has neither name nor time
		if err := archive(zipped, at, files...); err != nil {
			return err
		}
		return zipped.Close()
	})
}

// create makes a file of what is written.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
