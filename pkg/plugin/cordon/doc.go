// SPDX-License-Identifier: Apache-2.0

// Package cordon takes a member out of use for a while, and puts it back: where it is registered, since that is what all
// programs read.
//
//	Find     the registrations of a member that we may write             find.go
//	Plan     what to change in one: annotations, or Karmada's taints; pure  plan.go
//	Apply    patches what was read, and nothing newer                    apply.go
//	Remains  what still runs in a drained cluster, and what that waits for; pure  remains.go
package cordon
