// SPDX-License-Identifier: Apache-2.0

package compact

import (
	"reflect"
	"time"
)

const (
	// mapBytes is what a map takes beside its entries.
	mapBytes = 48
	// roundBytes is what is lost, at the most, where memory is given in sizes of 16 bytes.
	roundBytes = 16
)

var timeType = reflect.TypeFor[time.Time]()

// Bytes estimates what a value takes in memory with all that it leads to; what it leads to twice counts twice. The value
// must not lead back to itself.
func Bytes(value any) int64 {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return 0
	}
	return int64(v.Type().Size()) + beyond(v)
}

// beyond is what a value leads to.
func beyond(v reflect.Value) (n int64) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			n = int64(v.Len()) + roundBytes
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = int64(v.Elem().Type().Size()) + beyond(v.Elem()) + roundBytes
		}
	case reflect.Slice:
		n = int64(v.Cap()) * int64(v.Type().Elem().Size())
		for i := range v.Len() {
			n += beyond(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			n += beyond(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return 0
		}
		n = mapBytes
		for entries := v.MapRange(); entries.Next(); {
			slot := int64(v.Type().Key().Size() + v.Type().Elem().Size())
			n += slot*3/2 + beyond(entries.Key()) + beyond(entries.Value()) // a third of the slots is free
		}
	case reflect.Struct:
		if v.Type() == timeType { // it leads to a time zone that all have
			return 0
		}
		for i := range v.NumField() {
			n += beyond(v.Field(i))
		}
	}
	return n
}
