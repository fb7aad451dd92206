// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

func writeJSON(w io.Writer, empty []byte, items []found, memory *pages) error {
	head, tail, found := bytes.Cut(empty, []byte("[]"))
	if !found {
		return errors.New("writing a list of pods in JSON: no place for the items in " + string(empty))
	}
	if _, err := w.Write(head[:1]); err != nil { // by a short beginning a stream is known, and compressed if the whole is long
		return err
	}
	page := append(append(memory.lend(), head[1:]...), '[')
	for i, item := range items {
		if i > 0 {
			page = append(page, ',')
		}
		if page = item.appendJSON(page); len(page) >= pageBytes {
			if _, err := w.Write(page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	_, err := memory.writeAll(w, append(append(page, ']'), tail...))
	return err
}

// appendJSON appends the pod as found.pod and the library's encoder would.
func (f found) appendJSON(b []byte) []byte {
	b = append(b, `{"metadata":{`...)
	if f.Name() != "" {
		b = append(appendString(append(b, `"name":`...), f.Name()), ',')
	}
	if f.Namespace() != "" {
		b = append(appendString(append(b, `"namespace":`...), f.Namespace()), ',')
	}
	b = append(b, `"labels":{`...)
	for key, value := range f.labels() {
		b = append(appendString(b, key), ':')
		b = append(appendString(b, value), ',')
	}
	b = append(withoutComma(b), `},"annotations":{"`+karmadaClusterAnnotation+`":`...)
	b = append(appendString(b, f.cluster.name), `}},"timestamp":"`...)
	b = append(f.Timestamp().UTC().AppendFormat(b, time.RFC3339), `","window":"`...)
	b = append(append(b, f.Window().String()...), `","containers":[`...)
	for name, used := range f.Containers() {
		b = append(appendString(append(b, `{"name":`...), name), `,"usage":{`...)
		for resource, number := range used.All() {
			b = append(appendString(b, resource), `:"`...)
			b = append(number.AppendText(b), `",`...)
		}
		b = append(withoutComma(b), `}},`...)
	}
	return append(withoutComma(b), `]}`...)
}

// withoutComma takes the comma behind the last of several away. Where there
// is none, no comma stands there.
func withoutComma(b []byte) []byte { return bytes.TrimSuffix(b, []byte(",")) }

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !unescaped(s[i]) {
			escaped, _ := json.Marshal(s) // no string fails
			return append(b, escaped...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// unescaped is true for what names and labels are made of.
func unescaped(c byte) bool {
	return 'a' <= c && c <= 'z' || '-' <= c && c <= '9' || 'A' <= c && c <= 'Z' || c == '_'
}
