// SPDX-License-Identifier: Apache-2.0

package command

import "fmt"

// When is a fault of options where something is wrong, led by the flag that fixes it; otherwise nil, which [errors.Join] leaves out.
func When(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}
