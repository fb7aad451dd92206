// SPDX-License-Identifier: Apache-2.0

package sizes

import "time"

// Mode is how Pods come to their sizes.
type Mode int

// The modes.
const (
	// ModeOff and ModeInitial change no Pod that is there.
	ModeOff Mode = iota
	ModeInitial
	// ModeInPlace resizes Pods, ModeRecreate evicts them so that new ones are of another size, and ModeInPlaceOrRecreate
	// evicts those that cannot be resized.
	ModeInPlace
	ModeInPlaceOrRecreate
	ModeRecreate
	// ModeAuto is what a cluster can do of these (see [Mode.In]).
	ModeAuto
)

// Means are what a cluster can do about sizes.
type Means struct {
	// Admits is true if new Pods are known to get their size: else to evict one changes nothing.
	Admits bool
	// InPlace is true if Pods that run can be resized.
	InPlace bool
}

// In is the mode in a cluster: ModeAuto is the best that it can, and others are what they are.
func (m Mode) In(can Means) Mode {
	switch {
	case m != ModeAuto:
		return m
	case !can.InPlace:
		return ModeOff
	case can.Admits:
		return ModeInPlaceOrRecreate
	}
	return ModeInPlace
}

// EvictOn is for what a Pod is evicted.
type EvictOn int

// For what a Pod is evicted.
const (
	EvictOnAny EvictOn = iota
	EvictOnOOM
	EvictOnNever
)

// Policy is what users allow to be done to Pods.
type Policy struct {
	Mode    Mode
	EvictOn EvictOn
	// OneByOne has one cluster of the fleet at a time evict.
	OneByOne bool
	// ActAfter is how much history there has to be before a Pod is touched. What is urgent is not waited for.
	ActAfter time.Duration
	// Deferred and InProgress are how long a resize may be in these states. An error is one of InProgress.
	Deferred, InProgress time.Duration
}

// evicts reports whether users allow the Pod to be evicted.
func (p *Policy) evicts(pod *Running) bool {
	switch p.EvictOn {
	case EvictOnNever:
		return false
	case EvictOnOOM:
		return p.Mode != ModeInPlace && pod.killed()
	}
	return p.Mode != ModeInPlace
}
