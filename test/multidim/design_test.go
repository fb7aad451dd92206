// SPDX-License-Identifier: Apache-2.0

package multidim

// design is how the sides are combined. The zero value never sizes; ours has no fault.
type design struct {
	sizes bool
	// What is left out of ours, or done wrong.
	live      bool // the goal stays a utilization of what Pods request now
	follow    bool // limits follow requests, however low
	unfloored bool // Pods may shrink below the goal
	unpressed bool // Pods that use more than they request are not raised
	impatient bool // Pods shrink while replicas change
}

var (
	alone  = design{}
	ours   = design{sizes: true}
	bare   = design{sizes: true, unfloored: true, unpressed: true, impatient: true}
	naive  = design{sizes: true, live: true, unfloored: true, unpressed: true, impatient: true}
	hiding = design{sizes: true, follow: true, unfloored: true, unpressed: true, impatient: true}
)
