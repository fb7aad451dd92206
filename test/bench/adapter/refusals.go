// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// refusals counts answers that were not whole, by their code; see measure.Result.
type refusals map[int]int

func (r refusals) String() string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(r)) {
		if r[code] == 0 {
			continue
		}
		kind := fmt.Sprint(code)
		switch code {
		case 0:
			kind = "no answer"
		case http.StatusOK:
			kind = "partial, and said so"
		case http.StatusTooManyRequests:
			kind += ", come back later"
		}
		all = append(all, fmt.Sprintf("%d (%s)", r[code], kind))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (r refusals) add(others refusals) {
	for code, n := range others {
		r[code] += n
	}
}

func (r refusals) total() int {
	sum := 0
	for _, n := range r {
		sum += n
	}
	return sum
}
