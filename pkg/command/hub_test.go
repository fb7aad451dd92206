// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"
)

func TestFaultsOfTheWayToTheHubNameTheFlag(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	tests := map[string]struct{ kubeconfig, want string }{
		"by hand, without flags": {"", "--kubeconfig: must name a kubeconfig of the hub: this program does not run in a pod of the hub"},
		"no such file":           {"/nowhere/kubeconfig", "reading --kubeconfig: stat /nowhere/kubeconfig: no such file or directory"},
	}
	for name, tc := range tests {
		if _, err := HubConfig(tc.kubeconfig, "program"); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}
