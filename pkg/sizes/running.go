// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Running is a Pod that is there, and what its containers should have.
type Running struct {
	Name       string
	Containers []RunningContainer
	Class      Class
	// Started is when it began to run, or was last resized; zero if that is not known.
	Started time.Time
	Ready   bool
	// Scheduled is true if it has a node. Node is what is allocatable there, and Fixed what the Pod requests besides its
	// containers. None where it is not known.
	Scheduled   bool
	Node, Fixed Amounts
	// Static is true for a Pod that no API server may change: a static one, or one of Windows.
	Static bool
	// Resizable is true if its node tells what containers have: one that does not cannot resize.
	Resizable bool
	// Resize is what became of the last resize, and ResizeSince since when.
	Resize      ResizeState
	ResizeSince time.Time
	// Infeasible is what it requested together when its node could not give it that. None if that did not happen. It is
	// not retried unless less of something is wanted.
	Infeasible Amounts
}

// RunningContainer is a container of a Pod that is there.
type RunningContainer struct {
	Name string
	// Resources are those of the Pod's spec, Actual those that it has.
	Resources
	Actual Resources
	// Size is what it should have. A target of None is no wish.
	Size Size
	// Restarts is true for resources with whose change the container restarts.
	Restarts [2]bool
	// Peak is the most memory that it has used lately.
	Peak int64
	// QuickOOM is true if it was killed for want of memory, soon after it began and a short time ago.
	QuickOOM bool
}

// Class is the quality of service of a Pod, as Kubernetes calls it. It never changes.
type Class int

// The classes.
const (
	Burstable Class = iota
	BestEffort
	Guaranteed
)

// ResizeState is what became of a resize.
type ResizeState int

// The states of a resize.
const (
	ResizeNone ResizeState = iota // none was asked for, or it is done
	ResizeInProgress
	ResizeDeferred
	ResizeInfeasible
	ResizeError
)
