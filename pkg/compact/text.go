// SPDX-License-Identifier: Apache-2.0

package compact

import "encoding/binary"

// A packed text is made of numbers (varints) and of strings led by their count of bytes. Each is cut off in the order in
// which it was appended; what was not packed here must not be cut.

// AppendNumber packs a number: in one byte if it is small, and not negative.
func AppendNumber(b []byte, n int64) []byte { return binary.AppendUvarint(b, uint64(n)) }

// AppendText packs a string.
func AppendText(b []byte, s string) []byte { return append(AppendNumber(b, int64(len(s))), s...) }

// CutNumber returns a number, and what follows.
func CutNumber(packed string) (n int64, rest string) {
	if packed[0] < 0x80 { // nearly always: names are short and pods small
		return int64(packed[0]), packed[1:]
	}
	value, size := binary.Uvarint([]byte(packed[:min(len(packed), binary.MaxVarintLen64)]))
	return int64(value), packed[size:]
}

// CutText returns a string, which shares the packed one's memory, and what follows.
func CutText(packed string) (text, rest string) {
	n, rest := CutNumber(packed)
	return rest[:n], rest[n:]
}
