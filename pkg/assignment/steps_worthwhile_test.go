// SPDX-License-Identifier: Apache-2.0

package assignment

import "testing"

// Less than a twentieth of all moves only to a cluster that is at its limit: that some cluster is, and stays as it is, is
// no reason.
func TestWhatIsWorthMoving(t *testing.T) {
	fleet := func(a, c int32, more int32, changes ...siteChange) Snapshot {
		return snapshot(Prioritized, 3, 110,
			site("a", 1, 50, a, append(changes, priority(3), hosts(more))...),
			site("b", 1, 50, 10, priority(2), hosts(39)),
			site("c", 1, 10, c, priority(1), hosts(0), limited))
	}
	tests := map[string]struct {
		Snapshot
		want string
	}{
		"not while only another is at its limit": {fleet(10, 10, 41), "- a 1/50 hold, b 1/50 hold, c 1/10"},
		"nor while none is":                      {fleet(10, 9, 41), "- a 1/50 hold, b 1/50 hold, c 1/10"},
		"to the one that is":                     {fleet(50, 9, 1, limited), "MaximumMovedToCapacity: a 1/51 hold, b 1/50 hold, c 1/9"},
		"to the one that is, and another is too": {fleet(50, 10, 1, limited), "MaximumMovedToCapacity: a 1/51 hold, b 1/49 hold, c 1/10"},
		"a twentieth, though nobody needs it":    {fleet(10, 9, 43), "MaximumMovedToCapacity: a 1/53 hold, b 1/48 hold, c 1/9"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := told(Next(tc.Snapshot)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
