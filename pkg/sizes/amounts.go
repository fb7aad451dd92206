// SPDX-License-Identifier: Apache-2.0

package sizes

// Resource is one of the resources that are sized.
type Resource int

// The resources that are sized.
const (
	CPU Resource = iota
	Memory

	resources // how many
)

// Amounts are of each Resource: thousandths of a core, and bytes. One that is not known, or not given, is None.
type Amounts [resources]int64

// None is no amount.
const None int64 = -1

// none are no amounts.
func none() Amounts { return Amounts{None, None} }

// most bounds amounts: a hundred billion cores, or 91 TiB. Far below the largest int64, so that sums do not overflow.
const most int64 = 1e14

// amount is the whole part of v, not below 0 nor above most.
func amount(v float64) int64 {
	switch {
	case v > float64(most):
		return most
	case v > 0:
		return int64(v)
	}
	return 0 // also what is not a number
}
