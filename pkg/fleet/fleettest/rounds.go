// SPDX-License-Identifier: Apache-2.0

package fleettest

import "testing"

// Rounds is how often something random is tried: all times, and in the short form one time of so many. What must have come of it at
// least is counted by it as well.
func Rounds(all, ofSoMany uint64) uint64 {
	if testing.Short() {
		return all / ofSoMany
	}
	return all
}
