// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// form is in which way the values of a type take memory.
type form uint8

const (
	plain     form = iota // numbers: nothing but where they lie
	text                  // a string
	octets                // bytes, base64 in JSON
	structure             // fields, which lie in it
	sequence              // a slice, of elem
	entries               // a map, with values elem
	pointer               // to elem
	anything              // maps, lists and text, as JSON has them
)

// shape is what is known of a Go type to tell what decoding a value of it takes.
type shape struct {
	form form
	size int64 // of a value where it lies: in a struct, a slice or a map
	elem *shape
	key  int64 // size of the keys of entries

	names   map[string]*shape // fields in JSON
	numbers []*shape          // fields in protobuf
	// isMessage is true for a sequence that is a message of its own in protobuf, with the elements in field 1.
	isMessage bool
	// own is for types that decode themselves: what each value takes beside, and for each byte of it. In
	// JSON nothing else of them counts.
	own *ownDecoder
}

// ownDecoder is what a type that decodes itself takes, in bytes.
type ownDecoder struct{ fixed, perByte int64 }

// decodesItself are such types of Kubernetes. The figures are held by tests.
var decodesItself = map[reflect.Type]ownDecoder{
	reflect.TypeFor[resource.Quantity]():    {fixed: 48, perByte: 4},
	reflect.TypeFor[metav1.Time]():          {fixed: 320, perByte: 4},
	reflect.TypeFor[metav1.MicroTime]():     {fixed: 320, perByte: 4},
	reflect.TypeFor[metav1.Duration]():      {fixed: 320, perByte: 4},
	reflect.TypeFor[metav1.FieldsV1]():      {fixed: 16, perByte: 2},
	reflect.TypeFor[runtime.RawExtension](): {fixed: 16, perByte: 2},
	reflect.TypeFor[time.Time]():            {fixed: 64, perByte: 4},
}

// unknownDecoder is for any other type that decodes itself.
var unknownDecoder = ownDecoder{fixed: 512, perByte: 16}

// shaper knows the shapes of the types found so far.
type shaper map[reflect.Type]*shape

// anyShape is that of an interface.
var anyShape = &shape{form: anything, size: 16}

func (k shaper) of(t reflect.Type) *shape {
	if known := k[t]; known != nil {
		return known
	}
	s := &shape{size: int64(t.Size())}
	k[t] = s // before what is in it: a type may hold itself
	if t == reflect.TypeFor[unstructured.Unstructured]() || t == reflect.TypeFor[unstructured.UnstructuredList]() {
		s.form = anything
		return s
	}
	s.own = ownDecoderOf(t)
	switch t.Kind() {
	case reflect.String:
		s.form = text
	case reflect.Pointer:
		s.form, s.elem = pointer, k.of(t.Elem())
	case reflect.Slice:
		s.form, s.elem = sequence, k.of(t.Elem())
		if t.Elem().Kind() == reflect.Uint8 {
			s.form = octets
		}
		_, s.isMessage = reflect.New(t).Interface().(interface{ Unmarshal([]byte) error })
	case reflect.Array:
		s.form, s.elem = sequence, k.of(t.Elem()) // as much as a slice, at most
	case reflect.Map:
		s.form, s.elem, s.key = entries, k.of(t.Elem()), int64(t.Key().Size())
	case reflect.Interface:
		s.form = anything
	case reflect.Struct:
		s.form, s.names = structure, map[string]*shape{}
		k.fields(t, s)
	}
	return s
}

func ownDecoderOf(t reflect.Type) *ownDecoder {
	if known, found := decodesItself[t]; found {
		return &known
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil
	}
	switch reflect.New(t).Interface().(type) {
	case json.Unmarshaler, encoding.TextUnmarshaler:
		return &unknownDecoder
	}
	return nil
}

func (k shaper) fields(t reflect.Type, into *shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		one := k.of(f.Type)
		if number := numberOf(f.Tag.Get("protobuf")); number > 0 && number < mostNumber {
			for len(into.numbers) <= number {
				into.numbers = append(into.numbers, nil)
			}
			into.numbers[number] = one
		}
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "-":
		case name == "" && f.Anonymous: // in JSON its fields stand among ours
			k.inline(one, into)
		case name == "":
			into.names[f.Name] = one
		default:
			into.names[name] = one
		}
	}
}

// inline adds the fields of an embedded struct. One behind a pointer is counted where it is pointed from.
func (k shaper) inline(embedded, into *shape) {
	if embedded.form == pointer {
		embedded = embedded.elem
		into.size += allocated(embedded.size)
	}
	for name, field := range embedded.names {
		if _, ours := into.names[name]; !ours {
			into.names[name] = field
		}
	}
}
