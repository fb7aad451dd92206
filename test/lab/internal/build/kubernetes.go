// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

const kubernetesModule = "k8s.io/kubernetes"

// Kubernetes are the programs of a control plane of another minor version of Kubernetes, such as 1.36, as that version builds them: with
// libraries of its own. The module test/kubernetes/1.36 says which.
func Kubernetes(minor string) (Group, error) {
	tests, err := moduleDir()
	if err != nil {
		return Group{}, err
	}
	folder := filepath.Join("kubernetes", minor)
	version, err := kubernetesIn(filepath.Join(tests, folder, "go.mod"))
	if err != nil {
		return Group{}, fmt.Errorf("finding the versions of Kubernetes %s: %w", minor, err)
	}
	programs := KubernetesPrograms()
	packages := make([]string, len(programs))
	for i, program := range programs {
		packages[i] = kubernetesModule + "/cmd/" + program
	}
	return Group{
		module: folder,
		steps:  []step{{programs: programs, packages: packages, flags: flagsOf(version)}},
		first:  "eight minutes",
	}, nil
}

// KubernetesPrograms are those that a cluster has in the version that it is of; all others are the lab's.
func KubernetesPrograms() []string {
	return []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
}

// kubernetesIn is the version of Kubernetes that a go.mod requires.
func kubernetesIn(path string) (version string, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s; a minor version is written like 1.36", path)
	}
	if err != nil {
		return "", err
	}
	mod, err := modfile.Parse(path, data, nil)
	if err != nil {
		return "", err
	}
	for _, require := range mod.Require {
		if require.Mod.Path == kubernetesModule {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", path, kubernetesModule)
}

// flagsOf make programs of Kubernetes say which version they are. A build without
// them says v0.0.0, which version checks of clients refuse.
func flagsOf(version string) []string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(version), "v"), ".")
	return []string{"-ldflags", "-s -w" +
		" -X k8s.io/component-base/version.gitVersion=" + version +
		" -X k8s.io/component-base/version.gitMajor=" + major +
		" -X k8s.io/component-base/version.gitMinor=" + minor}
}
