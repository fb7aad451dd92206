// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// growth is how many times its own bytes decoding an object may take, but for freely. Real ones take up to 40 times
	// as much, where they say little.
	growth = 64
	freely = 16 << 20
	// aDecoder is what decoding takes, whatever is decoded, by a decoder of JSON or of a scheme.
	aDecoder = 8 << 10
	// mostNumber bounds the numbers of the fields that are counted.
	mostNumber = 64
	// deepest is how many messages may lie in each other: some 15 do.
	deepest = 128
)

// TooHeavyError is an object that would take far more memory than its bytes: a list of
// many items of which nothing is said.
type TooHeavyError struct {
	// Bytes are those that it was sent as.
	Bytes int
}

func (e *TooHeavyError) Error() string {
	return fmt.Sprintf("%d bytes would take more than %d times as much memory: the lists in it hold next to nothing", e.Bytes, growth)
}

var errDeep = errors.New("the messages in it lie too deep in each other")

// most is what decoding so many bytes may take.
func most(bytes int) int64 { return freely + growth*int64(bytes) }

// scale adds up what decoding takes. It stops once that is more than most.
type scale struct {
	bytes, most int64
}

func weighing(bytes int) *scale { return &scale{most: most(bytes)} }

// result is what was weighed, and the error of what is too heavy.
func (w *scale) result(bytes int) (int64, error) {
	if w.bytes > w.most {
		return w.bytes, &TooHeavyError{bytes}
	}
	return w.bytes, nil
}

// protobuf weighs a message that is decoded, without an envelope.
func (s *shape) protobuf(message []byte) (int64, error) {
	w := weighing(len(message))
	w.bytes += allocated(s.size)
	if err := w.message(s, message, 0); err != nil {
		return 0, err
	}
	return w.result(len(message))
}

// message weighs the fields of a message that is decoded into one value of the shape.
func (w *scale) message(s *shape, message []byte, depth int) error {
	if depth > deepest {
		return errDeep
	}
	var fields [mostNumber]slice // as far as they were seen
	for len(message) > 0 && w.bytes <= w.most {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var content []byte
		if kind == protowire.BytesType {
			content, n = protowire.ConsumeBytes(message)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if int(number) >= len(s.numbers) || s.numbers[number] == nil {
			continue
		}
		if err := w.field(s.numbers[number], content, kind, &fields[number], depth); err != nil {
			return err
		}
	}
	return nil
}

// field weighs one of the values of a field. Those of a list and the entries of a map come one by one.
func (w *scale) field(s *shape, content []byte, kind protowire.Type, seen *slice, depth int) error {
	if kind != protowire.BytesType { // a number; many of them may be pointed to
		switch s.form {
		case pointer:
			w.bytes += 16
		case sequence:
			w.bytes += seen.append(s.elem.size)
		}
		return nil
	}
	switch {
	case s.form == sequence && !s.isMessage:
		if s.elem.form == plain { // numbers, one for each byte at most
			w.bytes += allocated(s.elem.size*int64(len(content))) * 2
			return nil
		}
		w.bytes += seen.append(s.elem.size)
		return w.value(s.elem, content, depth)
	case s.form == entries:
		w.bytes += entry(seen.length, s.key, s.elem.size)
		seen.length++
		return w.entry(s.elem, content, depth)
	}
	before := w.bytes
	err := w.value(s, content, depth)
	if seen.length++; seen.length > 1 { // it is added to what came before: lists in it grow further
		w.bytes += moved * (w.bytes - before)
	}
	return err
}

// value weighs what is decoded into one value, but for the place where it lies.
func (w *scale) value(s *shape, content []byte, depth int) error {
	if s.own != nil {
		w.bytes += s.own.fixed + s.own.perByte*int64(len(content))
	}
	switch s.form {
	case text, octets:
		w.bytes += allocated(int64(len(content)))
	case pointer:
		w.bytes += allocated(s.elem.size)
		return w.value(s.elem, content, depth)
	case structure:
		return w.message(s, content, depth+1)
	case sequence: // a message with elements
		return w.message(&shape{numbers: []*shape{nil, {form: sequence, elem: s.elem}}}, content, depth+1)
	case anything:
		w.bytes += unknownDecoder.fixed + unknownDecoder.perByte*int64(len(content))
	}
	return nil
}

// entry weighs a key and a value of a map, of which the last count, but all are decoded.
func (w *scale) entry(value *shape, content []byte, depth int) error {
	if value.form == structure {
		w.bytes += allocated(value.size) // it is made, and then copied
	}
	return eachField(content, func(number protowire.Number, content []byte) error {
		if number == 1 {
			w.bytes += allocated(int64(len(content)))
			return nil
		}
		w.bytes += allocated(value.size)
		return w.value(value, content, depth)
	})
}
