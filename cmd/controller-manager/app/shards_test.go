// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// Without shards the leader's Lease is taken as ever, and who only observes takes none.
func TestCandidate(t *testing.T) {
	for name, c := range map[string]struct {
		shards   int
		observes bool
		divides  bool
	}{
		"one leader":       {1, false, false},
		"shards":           {64, false, true},
		"shards, observed": {64, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOptions()
			o.Leader.Shards, o.Observing.Observe = c.shards, c.observes
			candidate, err := newCandidate(&rest.Config{Host: "https://hub.invalid"}, o)
			if err != nil {
				t.Fatal(err)
			}
			lock := candidate.lock()
			if (lock != nil) != c.divides {
				t.Fatalf("it has a Lease of its own: %v, want %t", lock, c.divides)
			}
			if lock != nil && (!strings.HasSuffix(lock.Identity(), "-of-64") || lock.Describe() != "fleetscale-system/"+lease) {
				t.Errorf("it is %s, and takes %s", lock.Identity(), lock.Describe())
			}
		})
	}
}
