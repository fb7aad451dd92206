// SPDX-License-Identifier: Apache-2.0

// Package fleettest compares, for the tests of all packages, and says how often they try what is random.
package fleettest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Diff is cmp.Diff, and takes a tenth of its time where nothing differs.
func Diff(want, got any, options ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, options...)
}

// Same fails the test where the two differ, and shows in what. Nothing need be said of what they are.
func Same(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Contain fails the test where there are not as many texts as wanted, or one does not contain what is wanted of it.
func Contain(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %q, want %d", what, got, len(want))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: %s\nwant it to contain %s", what, got[i], want[i])
		}
	}
}
