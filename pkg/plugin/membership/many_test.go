// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"io"
	"strings"
	"testing"
)

func TestWhatAClusterSaysIsPartOfALine(t *testing.T) {
	var out strings.Builder
	tell := &teller{out: &out, progress: io.Discard}
	tell.result("%s: %s", "east", "refused\x1b[2J\nwest joined")
	if got := out.String(); strings.Contains(got, "\x1b") || strings.Count(got, "\n") != 1 {
		t.Errorf("printed %q, want one line of text", got)
	}
}
