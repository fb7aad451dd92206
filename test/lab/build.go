// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/fleetscale/fleetscale/test/lab/internal/build"
)

// Build makes sure that the programs of a lab exist, and returns their folder.
// The first time takes minutes; log, which may be nil, shows how it goes.
func Build(ctx context.Context, log io.Writer) (dir string, err error) {
	if log == nil {
		log = io.Discard
	}
	return build.Programs(ctx, build.Clusters(), log)
}

// BuildNodes is Build for the programs of real nodes, which only labs with such nodes need: another two minutes.
func BuildNodes(ctx context.Context, log io.Writer) (dir string, err error) {
	if log == nil {
		log = io.Discard
	}
	return build.Programs(ctx, build.Nodes(), log)
}

// BuildHelm is Build for helm, which no lab needs but tests of the charts do, and returns its file.
func BuildHelm(ctx context.Context, log io.Writer) (program string, err error) {
	if log == nil {
		log = io.Discard
	}
	dir, err := build.Programs(ctx, build.Helm(), log)
	return filepath.Join(dir, "helm"), err
}

// BuildCertManager is Build for a program with the controllers of cert-manager, which no lab needs but tests of certificates do. It returns
// its file, and the folder with the manifests of cert-manager's kinds.
func BuildCertManager(ctx context.Context, log io.Writer) (program, kinds string, err error) {
	if log == nil {
		log = io.Discard
	}
	dir, err := build.Programs(ctx, build.CertManager(), log)
	if err != nil {
		return "", "", err
	}
	files, err := build.CertManagerFiles(ctx)
	return filepath.Join(dir, "certmanager"), filepath.Join(files, "deploy", "crds"), err
}

// Compile builds programs of this checkout, by their folders in cmd/, into dir. The log shows how far it is.
func Compile(ctx context.Context, dir string, log io.Writer, programs ...string) error {
	return build.Ours(ctx, dir, log, programs...)
}

// CompileFormer is Compile for the checkout of another version, into its bin/.
func CompileFormer(ctx context.Context, checkout string, log io.Writer, programs ...string) error {
	return build.Former(ctx, checkout, log, programs...)
}

// programPath returns the program of that name: from $KUBEBUILDER_ASSETS where
// it is there, otherwise one that Build made.
func programPath(built, name string) string {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		path := filepath.Join(assets, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return filepath.Join(built, name)
}
