// SPDX-License-Identifier: Apache-2.0

package plugin

import "errors"

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
		return exit.Code, err.Error()
	}
	return 1, err.Error()
}
