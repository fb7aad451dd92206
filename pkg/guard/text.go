// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// mostText bounds the characters of a quantity.
	mostText = 256
	// mostExponent bounds the digits of its exponent, leading zeros not counted.
	mostExponent = 3
	// mostShown is how much of a refused quantity is repeated.
	mostShown = 40
)

// HarmfulError is a quantity that would take too long to decode, or to compute with.
type HarmfulError struct {
	// Field is the path to it, without positions in lists where they were not counted.
	Field string
	// Text is the quantity, cut if it is long.
	Text string
}

func (e *HarmfulError) Error() string {
	return fmt.Sprintf("%s: the quantity %q would take too long to read: give it an exponent from -999 to 999 and at most %d characters",
		e.Field, e.Text, mostText)
}

// check refuses the text of a quantity. That of what is no quantity at all may pass
// or not: its decoder refuses it.
func check(text []byte) error {
	text = bytes.TrimSpace(text) // as the decoder of JSON does
	if len(text) <= mostText && !hasLongExponent(text) {
		return nil
	}
	return &HarmfulError{Text: string(text[:min(len(text), mostShown)])}
}

// hasLongExponent is true also for other text behind the last e: no suffix is so long.
func hasLongExponent(text []byte) bool {
	at := bytes.LastIndexAny(text, "eE")
	if at < 0 {
		return false
	}
	exponent := text[at+1:]
	if len(exponent) > 0 && (exponent[0] == '-' || exponent[0] == '+') {
		exponent = exponent[1:]
	}
	return len(bytes.TrimLeft(exponent, "0")) > mostExponent
}

// at puts a part of the path before that of a harmful quantity.
func at(name string, err error) error {
	var harmful *HarmfulError
	if !errors.As(err, &harmful) {
		return err
	}
	name = name[:min(len(name), mostShown)] // a key can be of any length
	switch {
	case harmful.Field == "":
		harmful.Field = name
	case harmful.Field[0] == '[':
		harmful.Field = name + harmful.Field
	default:
		harmful.Field = name + "." + harmful.Field
	}
	return harmful
}
