// SPDX-License-Identifier: Apache-2.0

package tenancy

import "testing"

func TestReserved(t *testing.T) {
	for namespace, want := range map[string]bool{
		"kube-system": true, "kube-public": true, "kube-node-lease": true, "fleetscale-system": true, "fleetscale-member": true,
		"fleetscale-": true, "shop": false, "default": false, "fleetscale": false, "my-fleetscale-system": false, "kube-shop": false, "": false,
	} {
		if got := Reserved(namespace); got != want {
			t.Errorf("namespace %q is reserved: %v, want %v", namespace, got, want)
		}
	}
}
