// SPDX-License-Identifier: Apache-2.0

package cronplan

import "testing"

func TestBriefIsPrintable(t *testing.T) {
	if got, want := Brief("east: no\x1b[2J\nwest: no"), "east: no\ufffd[2J\nwest: no"; got != want {
		t.Errorf("Brief = %q, want %q", got, want)
	}
}
