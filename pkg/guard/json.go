// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JSON refuses an object of the type that holds a harmful quantity or is too heavy: with a [*HarmfulError] or a
// [*TooHeavyError]. Other errors are for what is no JSON. Of any other it returns what decoding it takes at most, in bytes.
func (t *Type) JSON(data []byte) (int64, error) {
	if t == nil {
		return 0, nil
	}
	bytes, err := t.shape.json(data)
	if err != nil || t.root == nil || !suspicious(data, true) {
		return bytes, err
	}
	return bytes, t.root.json(data)
}

// JSON refuses data that would be a harmful quantity somewhere in the object, or is too heavy.
func JSON(data []byte, object any) error {
	if len(data) <= light && !suspicious(data, true) {
		return nil // the rule: what it is to become does not matter then
	}
	_, err := TypeOf(object).JSON(data)
	return err
}

// Unstructured is JSON for data that was decoded to maps, lists and text, and is to
// be converted.
func Unstructured(data map[string]any, object any) error {
	written, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return JSON(written, object)
}

// json reads data for the fields that the type has, as generously as any decoder:
// names in any case, and each time that one is there.
func (n *node) json(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // they are checked as they are written
	for {
		if err := n.read(decoder); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// read reads one value. What leads to no quantity is passed over.
func (n *node) read(d *json.Decoder) error {
	if n == nil {
		return d.Decode(new(json.RawMessage))
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return n.collection(d, token)
	case string:
		return n.text(token)
	case json.Number:
		return n.text(token.String())
	}
	return nil
}

func (n *node) text(text string) error {
	if !n.quantity {
		return nil
	}
	return check([]byte(text))
}

// collection reads what an object or a list holds, and its end.
func (n *node) collection(d *json.Decoder, begin json.Delim) error {
	for i := 0; d.More(); i++ {
		name := fmt.Sprintf("[%d]", i)
		var inside *node
		if begin == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name = key.(string) // a decoder gives no other key
			inside = n.named(name)
		} else if n.list {
			inside = n.elem
		}
		if err := inside.read(d); err != nil {
			return unended(at(name, err))
		}
	}
	_, err := d.Token()
	return unended(err)
}

// unended is for an end in the midst of a value, which is none.
func unended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (n *node) named(name string) *node {
	if n.entries {
		return n.elem
	}
	for i := range n.fields {
		if f := &n.fields[i]; f.name != "" && strings.EqualFold(f.name, name) {
			return f.node
		}
	}
	return nil
}

const (
	// shortExponent is how many digits any exponent has that is too long.
	shortExponent = mostExponent + 1
	// longNumber is how many digits stand together at least once in a quantity that is too long:
	// it has a whole part, a fraction and an exponent, and some signs between.
	longNumber = mostText/3 - 4
)

// suspicious is true for data that may hold a harmful quantity, and for little
// else. It checks every fourth byte, so that a list which holds none, as nearly
// all do, costs little more than reading it: an exponent that is too long has four
// digits, one of them at such a place. What follows them tells in a text only: in protobuf it may be anything.
func suspicious(data []byte, isText bool) bool {
	if bytes.Contains(data, []byte(`\u00`)) { // a digit may be written so
		return true
	}
	for i := shortExponent - 1; i < len(data); i += shortExponent {
		if !isDigit(data[i]) {
			continue
		}
		begin, end := i, i+1
		for begin > 0 && isDigit(data[begin-1]) {
			begin--
		}
		for end < len(data) && isDigit(data[end]) {
			end++
		}
		if end-begin >= longNumber || end-begin >= shortExponent && endsInE(data[:begin]) && (!isText || !goesOn(data[end:])) {
			return true
		}
		i = end - 1
	}
	return false
}

// endsInE is true for what ends in a number and the e before its exponent, unless
// it is the end of a longer word, such as a digest.
func endsInE(data []byte) bool {
	data = withoutSign(data)
	if len(data) == 0 || data[len(data)-1]|0x20 != 'e' {
		return false
	}
	number := data[:len(data)-1]
	before := bytes.TrimRight(number, "0123456789.")
	if len(before) == len(number) {
		return false
	}
	before = withoutSign(before)
	n := len(before)
	return n == 0 || !isWord(before[n-1]) || n > 1 && before[n-2] == '\\' // an escaped space
}

// goesOn is true when what follows belongs to the word before it.
func goesOn(data []byte) bool { return len(data) > 0 && isWord(data[0]) }

func withoutSign(data []byte) []byte {
	if n := len(data); n > 0 && (data[n-1] == '-' || data[n-1] == '+') {
		return data[:n-1]
	}
	return data
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '-' || c == '+' || c == '/'
}
