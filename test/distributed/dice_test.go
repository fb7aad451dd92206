// SPDX-License-Identifier: Apache-2.0

package distributed

import "math/rand/v2"

// dice draws what happens.
type dice struct{ *rand.Rand }

// oneIn is true once in n times.
func (d dice) oneIn(n int) bool { return d.IntN(n) == 0 }

// of draws one of these.
func of[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// between draws from low to high, both ends included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }
