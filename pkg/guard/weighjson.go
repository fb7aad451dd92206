// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonText is one that is weighed. What is no JSON is weighed as far as it can be read: no decoder gets further.
type jsonText struct {
	*scale

	data []byte
	at   int
}

// mostNested is how deep lists and objects may lie in each other: decoders refuse more.
const mostNested = 10_000

// value weighs the next value, which is decoded into one of the shape, but for the place where it lies. A nil shape is for what
// decoders pass over. It is false where there is nothing more to weigh.
func (w *jsonText) value(s *shape, depth int) bool {
	if depth > mostNested || w.bytes > w.most {
		return false
	}
	w.nested(depth)
	if s == nil {
		return w.pass(depth)
	}
	if s.own != nil && s.form != anything {
		begin := w.at
		ok := w.pass(depth)
		w.bytes += s.own.fixed + s.own.perByte*int64(w.at-begin)
		return ok
	}
	switch c := w.next(); {
	case c == 'n': // null
		return w.pass(depth)
	case s.form == pointer:
		w.bytes += allocated(s.elem.size)
		return w.value(s.elem, depth)
	case c == '{':
		return w.object(s, depth+1)
	case c == '[':
		return w.list(s, depth+1)
	case c == '"':
		begin := w.at
		odd, ok := w.quoted()
		w.bytes += textOf(w.at-begin, odd)
		switch s.form {
		case anything:
			w.bytes += s.size
		case octets:
			w.bytes += textOf(w.at-begin, odd)
		}
		return ok
	}
	begin := w.at
	ok := w.pass(depth)
	if s.form == anything || w.at-begin > 24 {
		w.bytes += 16 + 2*int64(w.at-begin)
	}
	return ok
}

// nested counts what decoders take to know where they are, which matters only of what is deeper than any object.
func (w *jsonText) nested(depth int) {
	const usual, perLevel = 32, 72
	if depth > usual {
		w.bytes += perLevel
	}
}

// textOf is what a text between quotes takes. Escapes, and what is not ASCII, are rewritten as they are read.
func textOf(quoted int, odd bool) int64 {
	n := allocated(int64(quoted))
	if odd {
		return 12*n + 64
	}
	return n
}

// next is the first byte of the next value; 0 at the end.
func (w *jsonText) next() byte {
	for ; w.at < len(w.data); w.at++ {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// quoted goes behind a text, of which it tells whether there is anything but ASCII as it is.
func (w *jsonText) quoted() (odd, ok bool) {
	var seen byte
	for w.at++; w.at < len(w.data); w.at++ {
		c := w.data[w.at]
		if c == '"' {
			w.at++
			return seen >= 0x80, true
		}
		if seen |= c; c == '\\' {
			seen |= 0x80
			w.at++
		}
	}
	return true, false
}

// pass goes behind a value.
func (w *jsonText) pass(depth int) bool {
	for open := 0; ; {
		switch w.next() {
		case 0:
			return false
		case '"':
			if _, ok := w.quoted(); !ok {
				return false
			}
		case '{', '[':
			open++
			w.nested(depth + open)
			w.at++
		case '}', ']':
			open--
			w.at++
		case ',', ':':
			w.at++
		default:
			w.plain()
		}
		if open <= 0 {
			return open == 0
		}
	}
}

// plain goes behind a number, or a word.
func (w *jsonText) plain() {
	for ; w.at < len(w.data); w.at++ {
		switch w.data[w.at] {
		case ',', ':', ']', '}', '{', '[', '"', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// end is true, and goes behind it, where a list or an object ends.
func (w *jsonText) end(with byte) bool {
	if w.next() == ',' {
		w.at++
	}
	if w.next() != with {
		return false
	}
	w.at++
	return true
}

func (w *jsonText) list(s *shape, depth int) bool {
	elem := anyShape
	if s.form == sequence {
		elem = s.elem
	} else if s.form != anything {
		return w.pass(depth)
	}
	w.at++
	count := int32(0)
	for ; !w.end(']'); count++ {
		if !w.value(elem, depth) {
			return false
		}
	}
	w.bytes += list(count, elem.size)
	if s.form == anything {
		w.bytes += aSlice
	}
	return true
}

// aSlice is what it takes to have a slice in an interface.
const aSlice = 24

func (w *jsonText) object(s *shape, depth int) bool {
	elem, key := anyShape, int64(16)
	switch s.form {
	case entries:
		elem, key = s.elem, s.key
		w.bytes += allocated(elem.size) // a value that is copied
	case structure, anything:
	default:
		return w.pass(depth)
	}
	w.at++
	if s.form != structure {
		w.bytes += aMap
	}
	for count := int32(0); !w.end('}'); count++ {
		if w.next() != '"' {
			return false
		}
		begin := w.at
		odd, ok := w.quoted()
		name := w.data[begin:w.at]
		if !ok || w.next() != ':' {
			return false
		}
		w.at++
		if s.form == structure {
			elem = w.field(s, name, odd)
		} else {
			w.bytes += textOf(len(name), odd) + 16 + entry(count, key, elem.size)
		}
		if !w.value(elem, depth) {
			return false
		}
	}
	return true
}

// field is that of a name, in quotes, as generously as any decoder: in any case.
func (w *jsonText) field(s *shape, quoted []byte, odd bool) *shape {
	name := quoted[1 : len(quoted)-1]
	if f, found := s.names[string(name)]; found {
		return f
	}
	w.bytes += 4 * allocated(int64(len(name)))
	if odd {
		w.bytes += 12 * allocated(int64(len(name)))
		if bytes.IndexByte(name, '\\') >= 0 {
			var read string
			if json.Unmarshal(quoted, &read) != nil {
				return nil
			}
			name = []byte(read)
		}
	}
	for known, f := range s.names {
		if strings.EqualFold(known, string(name)) {
			return f
		}
	}
	return nil
}

// json weighs data that is decoded from JSON.
func (s *shape) json(data []byte) (int64, error) {
	w := &jsonText{scale: weighing(len(data)), data: data}
	w.bytes += aDecoder + allocated(s.size)
	w.value(s, 0)
	if s.form == anything {
		w.bytes *= 3 // items of lists are decoded alone, and put in place
	}
	w.bytes += int64(len(data)) // the text of numbers, and of what decoders keep as it is
	return w.result(len(data))
}
