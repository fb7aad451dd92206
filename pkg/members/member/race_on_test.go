// SPDX-License-Identifier: Apache-2.0

//go:build race

package member

// raceFactor is what the race detector makes of memory: stacks grow.
const raceFactor = 2
