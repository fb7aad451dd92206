// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"path/filepath"
)

const certManagerFolder = "certmanager"

// CertManager is a program with the controllers of cert-manager, of which a module of its own has the versions.
func CertManager() Group {
	return Group{
		module:  certManagerFolder,
		steps:   []step{{programs: []string{"certmanager"}, packages: []string{"."}, flags: []string{"-ldflags", "-s -w"}}},
		sources: []string{filepath.Join("..", certManagerFolder)},
		first:   "three minutes",
	}
}

// CertManagerFiles returns the folder of the files of cert-manager.
func CertManagerFiles(ctx context.Context) (string, error) {
	return filesOf(ctx, certManagerFolder, "github.com/cert-manager/cert-manager/pkg/controller")
}
