// SPDX-License-Identifier: Apache-2.0

package guard

// Sizes of what Go's allocator hands out, in bytes.
const (
	largestClass = 32 << 10
	pageOfHeap   = 8 << 10
	// aHeader stands before what holds pointers and is larger than leastWithHeader.
	aHeader         = 8
	leastWithHeader = 512
)

// classes are the sizes that the allocator hands out for what is asked, for each 8 bytes.
var classes = func() (all [largestClass/8 + 1]int32) {
	for asked := 1; asked <= largestClass; {
		class := cap(append([]byte(nil), make([]byte, asked)...))
		for ; asked <= class; asked++ {
			all[(asked+7)/8] = int32(class)
		}
	}
	return all
}()

// allocated is what an allocation of so many bytes takes.
func allocated(bytes int64) int64 {
	if bytes > leastWithHeader {
		bytes += aHeader
	}
	if bytes > largestClass {
		return (bytes + pageOfHeap - 1) / pageOfHeap * pageOfHeap
	}
	return int64(classes[(bytes+7)/8])
}

// slice is one to which elements are appended, one by one.
type slice struct{ length, capacity int32 }

// append returns what one more element of that size takes, of all that is allocated for the slice: it moves as it grows.
func (s *slice) append(size int64) (bytes int64) {
	const doubledBelow = 256
	if s.length++; s.length <= s.capacity {
		return 0
	}
	switch {
	case s.capacity == 0:
		s.capacity = 1
	case s.capacity < doubledBelow:
		s.capacity *= 2
	default:
		s.capacity += (s.capacity + 3*doubledBelow) / 4
	}
	bytes = allocated(int64(s.capacity) * size)
	if size > 0 { // there may be room for more
		s.capacity = int32(max(int64(s.capacity), (bytes-aHeader)/size))
	}
	return bytes
}

// list is what a slice of so many elements has taken once they are appended.
func list(elements int32, size int64) (bytes int64) {
	for s := (slice{}); s.length < elements; s.length = min(elements, s.capacity) {
		s.length = s.capacity
		bytes += s.append(size)
	}
	return bytes
}

const (
	// aMap is what an empty map takes, and inGroup how many entries are allocated at first.
	aMap    = 48
	inGroup = 8
	// moved is how many entries are allocated for each beyond these: tables double, and are then less than half full.
	moved = 6
	// inPlace bounds the size of keys and values that lie in the table itself.
	inPlace = 128
)

// entry is what one more entry of a map takes, that has so many before; of an entry that was there before it is too much.
func entry(before int32, key, value int64) (bytes int64) {
	for _, part := range []*int64{&key, &value} {
		if *part > inPlace {
			bytes += allocated(*part)
			*part = 8
		}
	}
	slot := (key+7)/8*8 + (value+7)/8*8 + 1
	switch {
	case before == 0:
		bytes += aMap + allocated(inGroup*slot+8)
	case before >= inGroup:
		bytes += moved * slot
	}
	if before == inGroup {
		bytes += 256 // a directory, and a table
	}
	return bytes
}
