// SPDX-License-Identifier: Apache-2.0

package build

import "context"

const (
	karmadaModule = "github.com/karmada-io/karmada"
	karmadaFolder = "karmada"
)

// Karmada are the programs of a Karmada control plane, and its agent, as that version of Karmada builds them: with versions of
// Kubernetes' libraries that are its own.
func Karmada() Group {
	programs := []string{"aggregated-apiserver", "controller-manager", "scheduler", "webhook", "agent"}
	packages := make([]string, len(programs))
	for i, program := range programs {
		packages[i] = karmadaModule + "/cmd/" + program
	}
	return Group{
		module: karmadaFolder,
		steps:  []step{{programs: programs, packages: packages, flags: []string{"-ldflags", "-s -w"}}},
		first:  "six minutes",
	}
}

// KarmadaTests are Karmada's own end-to-end tests, base.test, and what they run.
func KarmadaTests() Group {
	flags := []string{"-ldflags", "-s -w"}
	return Group{
		module: karmadaFolder,
		steps:  []step{{programs: []string{"karmadactl"}, packages: []string{karmadaModule + "/cmd/karmadactl"}, flags: flags}},
		tests: []step{{
			programs: []string{"the end-to-end tests of Karmada"}, packages: []string{karmadaModule + "/test/e2e/suites/base"}, flags: flags,
		}},
		first: "six minutes",
	}
}

// KarmadaFiles returns the folder of the files of Karmada: its kinds and manifests are in it.
func KarmadaFiles(ctx context.Context) (string, error) {
	return filesOf(ctx, karmadaFolder, karmadaModule+"/pkg/version")
}
