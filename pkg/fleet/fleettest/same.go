// SPDX-License-Identifier: Apache-2.0

// Package fleettest compares, for the tests of all packages.
package fleettest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same fails the test where the two differ, and shows in what. Nothing need be said of what they are.
func Same(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
