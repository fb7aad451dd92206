// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// growth is how many times its own bytes an object may take in memory, but for
	// freely. Real ones take up to 8 times as much, where they say little.
	growth = 16
	freely = 16 << 20
	// light is so little that nothing of it is too heavy: two bytes make a Pod of 1200.
	light = 16 << 10
	// anEntry is what a map takes for each of its entries, beside the value.
	anEntry = 64
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

// weight is what a value of one type takes in memory, and what may be in it many times. Text and numbers take about what they
// are sent as.
type weight struct {
	size int64
	// parts are those of a message that have weights, by their number in protobuf.
	parts map[protowire.Number]part
	// largest is the size of the largest value that a list in it may hold.
	largest int64
}

// part is a field: a message, or many.
type part struct {
	of *weight
	// each is what one more takes.
	each    int64
	entries bool // a map
}

// weigher knows the weights of the types found so far.
type weigher map[reflect.Type]*weight

// of is nil for what has no parts worth counting.
func (w weigher) of(t reflect.Type) *weight {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if known := w[t]; known != nil {
		return known
	}
	one := &weight{size: int64(t.Size()), parts: map[protowire.Number]part{}}
	w[t] = one // before what is in it: a type may hold itself
	if t != quantity {
		w.fields(t, one)
	}
	return one
}

func (w weigher) fields(t reflect.Type, into *weight) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		p, found := w.part(f.Type)
		if !found {
			continue
		}
		if number := numberOf(f.Tag.Get("protobuf")); number > 0 {
			into.parts[protowire.Number(number)] = p
		}
		into.largest = max(into.largest, p.each)
		if p.of != nil {
			into.largest = max(into.largest, p.of.largest)
		}
	}
}

func (w weigher) part(t reflect.Type) (p part, found bool) {
	each := int64(0)
	switch t.Kind() {
	case reflect.Slice:
		p.of = w.of(t.Elem())
		each = int64(t.Elem().Size())
		if t.Elem().Kind() == reflect.Pointer && p.of != nil {
			each += p.of.size
		}
	case reflect.Map:
		p.of, p.entries = w.of(t.Elem()), true
		each = int64(t.Elem().Size()) + anEntry
	case reflect.Pointer:
		if p.of = w.of(t); p.of != nil {
			each = p.of.size
		}
	case reflect.Struct: // it lies in what holds it
		p.of = w.of(t)
	}
	p.each = each
	return p, p.of != nil
}

// most is what a message of so many bytes may take.
func most(bytes int) int64 { return freely + growth*int64(bytes) }

// protobuf refuses a message that is too heavy.
func (w *weight) protobuf(message []byte) error {
	if w == nil || len(message) <= light {
		return nil
	}
	left := most(len(message))
	if err := w.take(message, &left); err != nil {
		return err
	}
	if left < 0 {
		return &TooHeavyError{len(message)}
	}
	return nil
}

// take visits what is in a message, until there is nothing left to take.
func (w *weight) take(message []byte, left *int64) error {
	if len(w.parts) == 0 {
		return nil
	}
	return eachField(message, func(number protowire.Number, content []byte) error {
		p, found := w.parts[number]
		if !found || *left < 0 {
			return nil
		}
		*left -= p.each
		if !p.entries {
			return p.of.take(content, left)
		}
		return eachField(content, func(number protowire.Number, value []byte) error {
			const ofEntry = 2 // after the key
			if number != ofEntry {
				return nil
			}
			return p.of.take(value, left)
		})
	})
}

// json refuses an object that is too heavy, if all that its lists and objects hold were of the largest kind.
func (w *weight) json(data []byte) error {
	if w == nil || len(data) <= light {
		return nil
	}
	if left := most(len(data)); w.largest > 0 && elements(data) > left/w.largest {
		return &TooHeavyError{len(data)}
	}
	return nil
}

// elements counts what lists hold in a JSON text, without making sure that it is one. Lists in lists are of no type.
func elements(data []byte) (n int64) {
	const object, list, listInList = '{', '[', '('
	var open []byte
	inside := func() byte {
		if len(open) == 0 {
			return object
		}
		return open[len(open)-1]
	}
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfText(data, i+1)
		case '{':
			open = append(open, object)
		case '[':
			if inside() == object {
				open = append(open, list)
				n++
			} else {
				open = append(open, listInList)
			}
		case ']', '}':
			open = open[:max(0, len(open)-1)]
		case ',':
			if inside() == list {
				n++
			}
		}
	}
	return n
}

// endOfText is where the quote is that ends a text.
func endOfText(data []byte, i int) int {
	for ; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}
