// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Running is a Pod that is there and is not being deleted, and what its containers should have.
type Running struct {
	// UID is never that of another Pod; a StatefulSet's Pods have the names of those before them.
	UID, Name  string
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
	// Outdated is true for a Pod of an old template while a new one is rolled out: it is not changed, since it goes anyway.
	Outdated bool
	// Sized is true if it was created with a size: it bears the mark of that.
	Sized bool

	// What follows is told by [Past.Observe].

	// Infeasible is what it requested together when its node could not give it that. None if that did not happen. It is
	// not retried unless less of something is wanted.
	Infeasible Amounts
	// Evicted is true once an eviction was accepted. NotBefore is until when it is not evicted since that was refused, and Alone until
	// when nothing is done to it, since a resize was.
	Evicted          bool
	NotBefore, Alone time.Time
}

// RunningContainer is a container of a Pod that is there.
type RunningContainer struct {
	Name string
	// Resources are those of the Pod's spec, Actual those that it has.
	Resources
	Actual Resources
	// Size is what it should have. A target of None is no wish.
	Size Size
	// New is what it would be created with now ([NewPods]): at least what it may use until the fleet grows. Where that is not
	// known, and so None or 0, it is Size.
	New Resources
	// Pressed is true for resources of which it has lastingly used all that it requests, or more. It is raised to New at once,
	// and does not shrink below that.
	Pressed [2]bool
	// Restarts is true for resources with whose change the container restarts.
	Restarts [2]bool
	// Peak is the most memory that it has used lately. None, or 0, if that is not known: then its limit does not become less.
	Peak int64
	// OOM is true if it was killed for want of memory since the Pod was last resized; QuickOOM if besides that was soon after it
	// began and a short time ago.
	OOM, QuickOOM bool
}

// born is what a new Pod's container requests, and its limit; that is None if it stays as the template has it.
func (c *RunningContainer) born(r Resource) (request, limit int64) {
	if c.New.Requests[r] <= 0 {
		return c.Size.Target[r], c.Size.Limits[r]
	}
	if limit = c.New.Limits[r]; limit <= 0 {
		limit = None
	}
	return c.New.Requests[r], limit
}

// wanted is what it should request, and the limit that goes with it; None if that stays. Of a target of None nothing is wanted.
func (c *RunningContainer) wanted(r Resource) (request, limit int64) {
	request, limit = c.Size.Target[r], c.Size.Limits[r]
	if more, its := c.born(r); request >= 0 && c.Pressed[r] && more > request {
		return more, its
	}
	return request, limit
}

// urgent reports whether it should have more of a resource at once.
func (c *RunningContainer) urgent(r Resource) bool {
	wanted, _ := c.wanted(r)
	return (c.Pressed[r] || r == Memory && c.OOM) && wanted > c.Requests[r]
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
