// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"github.com/fleetscale/fleetscale/test/lab/internal/build"
)

// BuildKubernetes is Build for the control plane of another minor version of Kubernetes, such as 1.36, which only labs with clusters of
// that version need: another eight minutes.
func BuildKubernetes(ctx context.Context, minor string, log io.Writer) (dir string, err error) {
	if log == nil {
		log = io.Discard
	}
	group, err := build.Kubernetes(minor)
	if err != nil {
		return "", err
	}
	return build.Programs(ctx, group, log)
}

// KubernetesIsBuilt reports whether BuildKubernetes has nothing to do.
func KubernetesIsBuilt(minor string) bool {
	group, err := build.Kubernetes(minor)
	return err == nil && build.Built(group)
}

// program is the path of one of the cluster's programs, built if need be.
func (b *bringUp) program(ctx context.Context, name string) (path string, err error) {
	if b.plan.kubernetes == "" || !slices.Contains(build.KubernetesPrograms(), name) {
		return b.lab.program(name), nil
	}
	dir, err := BuildKubernetes(ctx, b.plan.kubernetes, nil)
	return filepath.Join(dir, name), err
}
