// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push sends the images of a release to where their names say, as whom docker login or its like has logged in, and prints them with
// their digests. What was sent before is not sent again.
func push(ctx context.Context, out io.Writer, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*"+layoutSuffix))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s holds no images (*%s): make dist writes them", folder, layoutSuffix)
	}
	for _, file := range files {
		pushed, err := pushLayout(ctx, file)
		if err != nil {
			return fmt.Errorf("pushing %s: %w", file, err)
		}
		fmt.Fprintln(out, pushed)
	}
	return nil
}

// pushLayout sends the image of one file, and returns its name and digest.
func pushLayout(ctx context.Context, file string) (string, error) {
	folder, err := os.MkdirTemp("", "dist")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := unpack(file, folder); err != nil {
		return "", err
	}
	described, index, err := readLayout(folder)
	if err != nil {
		return "", err
	}
	ref, err := name.NewTag(described.Annotations[refAnnotation], name.StrictValidation)
	if err != nil {
		return "", err
	}
	if err := remote.WriteIndex(ref, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", err
	}
	return ref.String() + "@" + described.Digest.String(), nil
}

// readLayout returns the one image of a layout, and what describes it.
func readLayout(folder string) (v1.Descriptor, v1.ImageIndex, error) {
	whole, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return v1.Descriptor{}, nil, err
	}
	manifest, err := whole.IndexManifest()
	if err != nil {
		return v1.Descriptor{}, nil, err
	}
	if len(manifest.Manifests) != 1 {
		return v1.Descriptor{}, nil, fmt.Errorf("it holds %d images, and not one", len(manifest.Manifests))
	}
	index, err := whole.ImageIndex(manifest.Manifests[0].Digest)
	return manifest.Manifests[0], index, err
}
