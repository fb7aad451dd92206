// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// A member cannot say something in our name.
func TestErrorsArePrintable(t *testing.T) {
	hostile := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New("no\x1b[2J\nwest joined"))
	err := errors.Join(fmt.Errorf("east: %w", fmt.Errorf("listing: %w", hostile)), errors.New("north: run this:\n  kubectl\x07"))
	want := "east: listing: pods \"web\" is forbidden: no\ufffd[2J west joined\n  north: run this:\n    kubectl\ufffd"
	if _, said := ExitCode(err); said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}
