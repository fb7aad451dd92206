// SPDX-License-Identifier: Apache-2.0

package central

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetscale/fleetscale/pkg/replicas"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

const period = 15 * time.Second

// throughJSON is a value as it comes back from the API.
func throughJSON[T any](t testing.TB, value T) T {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(replicas.Requests{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
