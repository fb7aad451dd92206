// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

func fieldsOf(message string) (fields []Field, err error) {
	err = EachField([]byte(message), func(f Field) error {
		fields = append(fields, f)
		return nil
	})
	return fields, err
}

func TestEachField(t *testing.T) {
	number := Field{Number: 1, Kind: protowire.VarintType}
	text := Field{Number: 2, Kind: protowire.BytesType, Bytes: []byte("ab")}
	for name, tc := range map[string]struct {
		message string
		want    []Field
		bad     bool
	}{
		"nothing": {},
		"all kinds": {message: "\x08\x96\x01\x12\x02ab\x1b\x08\x01\x1c\x21abcdefgh\x2dabcd",
			want: []Field{number, text, {Number: 3, Kind: protowire.StartGroupType}, {Number: 4, Kind: protowire.Fixed64Type},
				{Number: 5, Kind: protowire.Fixed32Type}}},
		"no bytes are not nil": {message: "\x12\x00", want: []Field{{Number: 2, Kind: protowire.BytesType, Bytes: []byte{}}}},
		"the greatest number":  {message: "\xf8\xff\xff\xff\x3f\x01", want: []Field{{Number: math.MaxInt32, Kind: protowire.VarintType}}},
		// to who truncates it, it is 0
		"a number beyond that":    {message: "\x08\x01\x80\x80\x80\x80\x40\x01", want: []Field{number}, bad: true},
		"a field without number":  {message: "\x00\x01", bad: true},
		"a kind that is none":     {message: "\x0e\x01", bad: true},
		"cut within a tag":        {message: "\x12\x02ab\x80", want: []Field{text}, bad: true},
		"cut behind a tag":        {message: "\x12\x02ab\x12", want: []Field{text}, bad: true},
		"cut within a number":     {message: "\x08\x80", bad: true},
		"cut within a length":     {message: "\x12\x80", bad: true},
		"cut within bytes":        {message: "\x12\x03ab", bad: true},
		"cut within 8 bytes":      {message: "\x21abcdefg", bad: true},
		"a length beyond reach":   {message: "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", bad: true},
		"a number of 65 bits":     {message: "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", bad: true},
		"a group without its end": {message: "\x1b\x08\x01", bad: true},
		"an end without a group":  {message: "\x1c", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fieldsOf(tc.message)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.bad {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestEachFieldStopsAtAnError(t *testing.T) {
	enough, n := errors.New("enough"), 0
	err := EachField([]byte("\x08\x01\x08\x01\x08\x01"), func(Field) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 2 {
		t.Errorf("%v after %d fields", err, n)
	}
}

// FuzzEachField: what is read is what was there, in its place, whatever else is there.
func FuzzEachField(f *testing.F) {
	f.Add([]byte("\x08\x96\x01\x12\x02ab\x1b\x08\x01\x1c\x21abcdefgh\x2dabcd"))
	f.Add([]byte("\x12\x00\x80"))
	f.Fuzz(func(t *testing.T, message []byte) {
		rest := message
		err := EachField(message, func(field Field) error {
			number, kind, n := protowire.ConsumeField(rest)
			if tag, tagged, _ := protowire.ConsumeTag(rest); n < 0 || field.Number != number || tag != number || field.Kind != kind ||
				tagged != kind {
				t.Fatalf("%x begins with field %d of kind %d, not with %+v", rest, number, kind, field)
			}
			if content := rest[n-len(field.Bytes) : n]; (kind == protowire.BytesType) != (field.Bytes != nil) ||
				string(content) != string(field.Bytes) {
				t.Fatalf("%x: field %d holds %x", rest, number, field.Bytes)
			}
			rest = rest[n:]
			return nil
		})
		if _, _, n := protowire.ConsumeField(rest); (err == nil) != (len(rest) == 0) || err != nil && n >= 0 {
			t.Errorf("%x: %v, and %x is left", message, err, rest)
		}
	})
}
