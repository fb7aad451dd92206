// SPDX-License-Identifier: Apache-2.0

package usage

import "encoding/binary"

// The packed texts of labels and shapes are made of counts (varints) and of
// strings led by their count of bytes. Only this package writes and reads them.

func appendCount(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendText(b []byte, s string) []byte { return append(appendCount(b, len(s)), s...) }

func cutCount(s string) (n int, rest string) {
	if s[0] < 0x80 { // nearly always: names are short and pods small
		return int(s[0]), s[1:]
	}
	value, size := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	return int(value), s[size:]
}

func cutText(s string) (text, rest string) {
	n, rest := cutCount(s)
	return rest[:n], rest[n:]
}
