// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// WriteJSON writes a list of pods, given how the library writes the empty one.
func WriteJSON[T Item](w io.Writer, empty []byte, items []T, memory Pages) error {
	head, tail, found := bytes.Cut(empty, []byte("[]"))
	if !found {
		return errors.New("writing a list of pods in JSON: no place for the items in " + string(empty))
	}
	if _, err := w.Write(head[:1]); err != nil { // by a short beginning a stream is known, and compressed if the whole is long
		return err
	}
	page := append(append(memory.Lend(), head[1:]...), '[')
	for i, item := range items {
		if i > 0 {
			page = append(page, ',')
		}
		if page = item.AppendTo(page, asJSON{}); len(page) >= PageBytes {
			if _, err := w.Write(page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	_, err := memory.WriteAll(w, append(append(page, ']'), tail...))
	return err
}

type asJSON struct{}

var _ Form = asJSON{}

// Begin leaves out what is empty.
func (asJSON) Begin(b []byte, namespace, name string) []byte {
	b = append(b, `{"metadata":{`...)
	if name != "" {
		b = append(appendString(append(b, `"name":`...), name), ',')
	}
	if namespace != "" {
		b = append(appendString(append(b, `"namespace":`...), namespace), ',')
	}
	return append(b, `"labels":{`...)
}

// Label leaves a comma behind it.
func (asJSON) Label(b []byte, key, value string) []byte {
	b = append(appendString(b, key), ':')
	return append(appendString(b, value), ',')
}

// Annotation ends the labels.
func (asJSON) Annotation(b []byte, key, value string) []byte {
	b = append(appendString(append(withoutComma(b), `},"annotations":{`...), key), ':')
	return append(appendString(b, value), `}}`...)
}

// Measured continues to the containers.
func (asJSON) Measured(b []byte, at time.Time, window time.Duration) []byte {
	b = append(at.UTC().AppendFormat(append(b, `,"timestamp":"`...), time.RFC3339), `","window":"`...)
	return append(append(b, window.String()...), `","containers":[`...)
}

// Container continues to its usage.
func (asJSON) Container(b []byte, name string) []byte {
	return append(appendString(append(b, `{"name":`...), name), `,"usage":{`...)
}

// Use leaves a comma behind it.
func (asJSON) Use(b []byte, resource string, n Number) []byte {
	return append(n.AppendText(append(appendString(b, resource), `:"`...)), `",`...)
}

// EndContainer leaves a comma behind it.
func (asJSON) EndContainer(b []byte) []byte { return append(withoutComma(b), `}},`...) }

// End closes what is open.
func (asJSON) End(b []byte) []byte { return append(withoutComma(b), `]}`...) }

// withoutComma takes the comma behind the last of several away. Where there
// is none, no comma stands there.
func withoutComma(b []byte) []byte { return bytes.TrimSuffix(b, []byte(",")) }

func appendString(b []byte, s string) []byte {
	if !plain(s) {
		escaped, _ := json.Marshal(s) // no string fails
		return append(b, escaped...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// plain is true for what names and labels are made of: nothing in it is escaped. It checks eight bytes at a time.
func plain(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if !plainBytes(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56) {
			return false
		}
	}
	rest := uint64(each * ' ')
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
	}
	return plainBytes(rest)
}

// Eight bytes of 1, and their highest bits.
const each, highest = 0x0101010101010101, 0x8080808080808080

// plainBytes is false if one of eight bytes is below a space, above ASCII, or one of those that the library escapes.
func plainBytes(x uint64) bool {
	odd := x | (x - each*' ')
	odd |= (x ^ each*'"' - each) | (x ^ each*'\\' - each)
	odd |= (x ^ each*'&' - each) | (x ^ each*'<' - each) | (x ^ each*'>' - each)
	return odd&highest == 0
}
