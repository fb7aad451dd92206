// SPDX-License-Identifier: Apache-2.0

// Package taints says what the taints of a cluster mean for an autoscaler that tolerates some of them. It is pure.
//
//	free      the cluster takes part without restrictions
//	cordoned  it keeps what it has, may lose some of it, and gets no more: a taint with the effect NoSchedule
//	drained   others take its part over at once, and nobody waits for it while it is silent: the effect NoExecute
//
// That is one meaning for all registrations: those of Karmada have taints, and any may have the annotations
// [CordonAnnotation] and [DrainAnnotation], which act as taints with the annotations as their keys. So the same tolerations
// apply to both. The effect PreferNoSchedule is a wish of a scheduler, and means nothing here.
package taints
