// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errDelta is of bytes that are no delta.
var errDelta = errors.New("the numbers of a record cannot be read")

// appendDelta appends how numbers, so many, differ from those before, both as [appendNumbers] has them: how many there are, and then by
// turns how many stay as they were, and by how much the next one differs. Where there were fewer before, the others were zero.
func appendDelta(to, before, now []byte, count int) []byte {
	to = binary.AppendUvarint(to, uint64(count))
	same := 0
	for len(now) > 0 {
		size, numbers := common(before, now)
		before, now, same = before[size:], now[size:], same+numbers
		if len(now) == 0 {
			break
		}
		n, size := binary.Varint(now)
		now = now[size:]
		old := int64(0)
		if len(before) > 0 {
			old, size = binary.Varint(before)
			before = before[size:]
		}
		if n == old {
			same++
			continue
		}
		to = binary.AppendVarint(binary.AppendUvarint(to, uint64(same)), n-old) // wraps, and so does the sum
		same = 0
	}
	return binary.AppendUvarint(to, uint64(same))
}

// goesOn is set in each byte of a number but its last one.
const goesOn, goOn = 0x80, 0x8080808080808080

// common is how many bytes, of whole numbers, two begin with, and how many numbers these are.
func common(a, b []byte) (size, numbers int) {
	most := min(len(a), len(b))
	for size+8 <= most {
		eight := binary.LittleEndian.Uint64(a[size:])
		if eight != binary.LittleEndian.Uint64(b[size:]) {
			break
		}
		size, numbers = size+8, numbers+8-bits.OnesCount64(eight&goOn)
	}
	for ; size < most && a[size] == b[size]; size++ {
		if a[size] < goesOn {
			numbers++
		}
	}
	for size > 0 && a[size-1] >= goesOn {
		size--
	}
	return size, numbers
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
