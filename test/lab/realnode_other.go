// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package lab

// RealNodesPossible says why this machine can have no real nodes, and what to do about it; empty: it can.
func RealNodesPossible() (reason string) { return "they need Linux" }
