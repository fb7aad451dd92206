// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// AutoscalingMode says how far an autoscaler goes.
//
// +kubebuilder:validation:Enum=Active;Observe;Paused
type AutoscalingMode string

const (
	// ModeActive decides, and carries it out.
	ModeActive AutoscalingMode = "Active"
	// ModeObserve decides, and reports what it would do.
	ModeObserve AutoscalingMode = "Observe"
	// ModePaused does not decide.
	ModePaused AutoscalingMode = "Paused"
)
