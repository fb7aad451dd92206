// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"testing"
)

func TestExitCode(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		err  error
		code int
		said string
	}{
		"none":                   {nil, 0, ""},
		"any":                    {broken, 1, "broken"},
		"a code":                 {&ExitError{Code: 2, Err: broken}, 2, "broken"},
		"a code, and no words":   {&ExitError{Code: 1}, 1, ""},
		"a code within an error": {fmt.Errorf("all is %w", &ExitError{Code: 2, Err: broken}), 2, "all is broken"},
	} {
		if code, said := ExitCode(tc.err); code != tc.code || said != tc.said {
			t.Errorf("%s: %d and %q, want %d and %q", name, code, said, tc.code, tc.said)
		}
	}
}
