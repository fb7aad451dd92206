// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// ExitError ends the program with a code that is not 1, the one of all other errors.
type ExitError struct {
	Code int
	// Err is printed; nil where the command has said all.
	Err error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode is that of a program whose command ended so, and what it still has to say; "" is nothing.
func ExitCode(err error) (code int, said string) {
	if err == nil {
		return 0, ""
	}
	if exit := (*ExitError)(nil); errors.As(err, &exit) {
		return exit.Code, Said(err)
	}
	return 1, Said(err)
}

// Said is an error for a terminal. What an API server says, a member's above all, is in one line, further lines of the whole are
// indented, so that none can be taken for another message, and nothing but text is left.
func Said(err error) string {
	text := err.Error()
	for _, theirs := range statuses(err) {
		if strings.Contains(theirs, "\n") {
			text = strings.ReplaceAll(text, theirs, strings.Join(strings.Fields(theirs), " "))
		}
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i > 0 && line != "" {
			lines[i] = "  " + line
		}
	}
	return fleet.PrintableLines(strings.Join(lines, "\n"))
}

// statuses are the texts of all answers of API servers in an error.
func statuses(err error) []string {
	if _, isStatus := err.(apierrors.APIStatus); isStatus { // the tree is walked here
		return []string{err.Error()}
	}
	var all []string
	switch err := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		if below := err.Unwrap(); below != nil {
			all = statuses(below)
		}
	case interface{ Unwrap() []error }:
		for _, below := range err.Unwrap() {
			all = append(all, statuses(below)...)
		}
	}
	return all
}
