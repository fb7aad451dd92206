// SPDX-License-Identifier: Apache-2.0

package federatedhpatest

import (
	"encoding/json"
	"testing"
)

// ThroughJSON is a value as it comes back from the API.
func ThroughJSON[T any](t testing.TB, value T) T {
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
