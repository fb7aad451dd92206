// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"
	"sort"
)

// level returns what n single steps come to, each of which adds 1 where the gap is then largest and there is room, and lowers
// that gap by 1; of equal gaps the first is served. left are the steps that found no room. Its cost does not depend on n.
func level(n int64, gaps, rooms []int64) (gives []int64, left int64) {
	if n <= 0 || len(gaps) == 0 {
		return make([]int64, len(gaps)), max(0, n)
	}
	if all := downTo(slices.Min(gaps)-slices.Max(rooms), gaps, rooms); sum(all) <= n {
		return all, n - sum(all)
	}
	// The gaps are levelled down to the lowest line that n steps reach; what they are short of for the next one, the first
	// of those at the line get.
	lowest := slices.Min(gaps) - slices.Max(rooms)
	depth := slices.Max(gaps) - lowest
	line := lowest + int64(sort.Search(int(depth), func(d int) bool { return sum(downTo(lowest+int64(d), gaps, rooms)) <= n }))
	gives = downTo(line, gaps, rooms)
	n -= sum(gives)
	for i := range gives {
		if n > 0 && gaps[i]-gives[i] == line && gives[i] < rooms[i] {
			gives[i]++
			n--
		}
	}
	return gives, n
}

// downTo returns what brings each gap down to the line, as far as there is room.
func downTo(line int64, gaps, rooms []int64) []int64 {
	gives := make([]int64, len(gaps))
	for i := range gives {
		gives[i] = min(max(0, rooms[i]), max(0, gaps[i]-line))
	}
	return gives
}
