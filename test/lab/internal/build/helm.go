// SPDX-License-Identifier: Apache-2.0

package build

// Helm is Helm's own program, of the version whose library makes and judges the charts.
func Helm() Group {
	return Group{
		module: "../tools/dist",
		steps:  []step{{programs: []string{"helm"}, packages: []string{"helm.sh/helm/v4/cmd/helm"}, flags: []string{"-ldflags", "-s -w"}}},
		first:  "four minutes",
	}
}
