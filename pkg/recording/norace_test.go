// SPDX-License-Identifier: Apache-2.0

//go:build !race

package recording

// raced: the race detector is on, and all takes ten times as long.
const raced = false
