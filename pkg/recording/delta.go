// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/binary"
	"errors"
)

// errDelta is of bytes that are no delta.
var errDelta = errors.New("the numbers of a record cannot be read")

// appendDelta appends what differs from the numbers before, which are given as [appendNumbers] has them: how many there are, and then by
// turns how many stay as they were, and by how much the next one differs. Where there were fewer before, the others were zero.
func appendDelta(to []byte, before []byte, now []int64) []byte {
	to = binary.AppendUvarint(to, uint64(len(now)))
	same := uint64(0)
	for _, n := range now {
		old := int64(0)
		if len(before) > 0 {
			var size int
			old, size = binary.Varint(before)
			before = before[size:]
		}
		if n == old {
			same++
			continue
		}
		to = binary.AppendVarint(binary.AppendUvarint(to, same), n-old) // wraps, and so does the sum
		same = 0
	}
	return binary.AppendUvarint(to, same)
}

// appendNumbers appends the numbers by themselves.
func appendNumbers(to []byte, numbers []int64) []byte {
	for _, n := range numbers {
		to = binary.AppendVarint(to, n)
	}
	return to
}

// patch returns the numbers that a delta makes of those before, in the place of into.
func patch(into []int64, before, delta []byte) ([]int64, error) {
	count, delta, err := cutUvarint(delta)
	if err != nil || count > mostNumbers {
		return nil, errDelta
	}
	into = into[:0]
	next := func() (old int64) {
		if len(before) > 0 {
			var size int
			old, size = binary.Varint(before)
			before = before[size:]
		}
		return old
	}
	for {
		same, rest, err := cutUvarint(delta)
		if err != nil || same > count-uint64(len(into)) {
			return nil, errDelta
		}
		for range same {
			into = append(into, next())
		}
		if uint64(len(into)) == count {
			if len(rest) > 0 {
				return nil, errDelta
			}
			return into, nil
		}
		by, size := binary.Varint(rest)
		if size <= 0 {
			return nil, errDelta
		}
		if into, delta = append(into, next()+by), rest[size:]; uint64(len(into)) == count && len(delta) == 0 {
			return nil, errDelta
		}
	}
}

func cutUvarint(b []byte) (n uint64, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, errDelta
	}
	return n, b[size:], nil
}
