// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"bytes"
	"encoding/binary"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

const (
	// Stand is a quantity that an answer holds where [Hostile] is to put a harmful one.
	Stand = "1234567890123"
	// Endless is one that takes forever to parse. It is as long as Stand.
	Endless = "1e-2147483648"
)

// depth is more than any decoder should follow.
const depth = 100_000

// Hostile are answers that harm who decodes them without care, each by its name. They are made of an honest one of that content
// type, JSON or protobuf, which is in UTF-8 and may hold Stand.
func Hostile(contentType string, honest []byte) map[string][]byte {
	all := map[string][]byte{
		"nothing":     {},
		"truncated":   bytes.Clone(honest[:len(honest)/2]),
		"endless":     bytes.ReplaceAll(honest, []byte(Stand), []byte(Endless)),
		"twice":       append(bytes.Clone(honest), honest...),
		"other bytes": bytes.Repeat([]byte{0xff}, 1<<10),
	}
	if contentType == runtime.ContentTypeProtobuf {
		maps.Copy(all, hostileProtobuf(honest))
	} else {
		maps.Copy(all, hostileJSON(honest))
	}
	return all
}

func hostileJSON(honest []byte) map[string][]byte {
	in := func(text string) []byte {
		return []byte(strings.Replace(string(honest), "{", `{"metadata":`+text+",", 1))
	}
	return map[string][]byte{
		"digits":       bytes.ReplaceAll(honest, []byte(Stand), bytes.Repeat([]byte("9"), 1<<20)),
		"long number":  in(strings.Repeat("9", 1<<20)),
		"nested lists": in(strings.Repeat("[", depth)),
		"nested":       in(strings.Repeat(`{"a":`, depth)),
		"nested whole": in(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)),
		"keys":         in("{" + strings.Repeat(`"a":"b",`, depth) + `"a":"b"}`),
		"escaped":      bytes.ReplaceAll(honest, []byte(Stand), []byte(`1\u0065-2147483648`)),
	}
}

// raw is the field of the envelope that holds the object.
const raw = 2

func hostileProtobuf(honest []byte) map[string][]byte {
	in := func(object []byte) []byte { return append([]byte(wire.Magic), field(object)...) }
	after := func(more []byte) []byte { return append(bytes.Clone(honest), more...) }
	nested := []byte{}
	for range 1_000 { // each has the length of all that follow
		nested = field(nested)
	}
	return map[string][]byte{
		"envelope alone":       []byte(wire.Magic),
		"length beyond all":    append([]byte(wire.Magic), lengthOf(1<<62)...),
		"length beyond inside": in(lengthOf(1 << 40)),
		"length below zero":    in(lengthOf(1<<64 - 1)),
		"number without end":   in(bytes.Repeat([]byte{0x80}, 1<<10)),
		"open groups":          in(bytes.Repeat([]byte{raw<<3 | 3}, depth)),
		"groups after it":      after(bytes.Repeat([]byte{9<<3 | 3}, depth)),
		"nested":               in(nested),
		"empty items":          in(bytes.Repeat(field(nil), depth)),
		"object twice":         after(field(nil)),
	}
}

// field is the field raw of a protobuf message.
func field(content []byte) []byte {
	return append(lengthOf(uint64(len(content))), content...)
}

func lengthOf(length uint64) []byte {
	return binary.AppendUvarint([]byte{raw<<3 | 2}, length)
}
