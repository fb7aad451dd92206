// SPDX-License-Identifier: Apache-2.0

package fit

import "testing"

// Nodes without the label are no domain together, nor are they of the one whose value is empty.
func TestNodesWithoutTheLabelAreNoDomain(t *testing.T) {
	zone := func(labels map[string]string) share { return share{&Node{Labels: labels}, 5} }
	tests := map[string]struct {
		keyless, want int64
	}{
		"they take any": {unlimited, 5 + 5 + 1 + 1},
		"they take few": {2, 2 + 2 + 1 + 1},
		"none":          {0, 1 + 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := limit{key: "zone", others: 1, keyless: tc.keyless}
			nodes := []share{zone(nil), zone(map[string]string{"disk": "ssd"}), zone(map[string]string{"zone": ""}),
				zone(map[string]string{"zone": ""}), zone(map[string]string{"zone": "a"})}
			if got := l.apply(nodes); got != tc.want {
				t.Errorf("%d replicas fit, want %d", got, tc.want)
			}
		})
	}
}
