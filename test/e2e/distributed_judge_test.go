// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/test/lab"
)

// wrote is an entry that was asked for and done at these seconds; a maximum of
// 0 is a deletion.
func wrote(begun, done int, member string, maximum int32) entry {
	w := lab.AutoscalerWrite{Name: "web", Begun: second(begun), Done: second(done)}
	if maximum > 0 {
		w.Stored = &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: new(int32(1)),
			MaxReplicas: maximum}}
	}
	return entry{member, w}
}

func second(n int) time.Time { return time.Unix(int64(n), 0) }

// The judge of what was written is judged.
func TestLedger(t *testing.T) {
	first := []entry{wrote(0, 1, "member1", 6), wrote(0, 1, "member2", 4)}
	for name, tc := range map[string]struct {
		then     []entry
		absences []absence
		most     int32
		back     string
	}{
		"nothing more":                          {most: 10},
		"less first":                            {then: []entry{wrote(2, 3, "member1", 5), wrote(4, 5, "member2", 5)}, most: 10},
		"more first":                            {then: []entry{wrote(2, 3, "member2", 5), wrote(4, 5, "member1", 5)}, most: 11},
		"more is asked for before less is done": {then: []entry{wrote(2, 5, "member1", 5), wrote(4, 6, "member2", 5)}, most: 11},
		"deleted first":                         {then: []entry{wrote(2, 3, "member1", 0), wrote(4, 5, "member2", 10)}, most: 10},
		"a member that is away does not count": {then: []entry{wrote(4, 5, "member2", 10)},
			absences: []absence{{"member1", second(3), second(9)}}, most: 10},
		"but as long as it counts": {then: []entry{wrote(4, 5, "member2", 10)}, absences: []absence{{"member1", second(5), second(9)}}, most: 16},
		"there and back":           {then: []entry{wrote(2, 3, "member1", 5), wrote(4, 5, "member1", 6)}, most: 10, back: "member1/web"},
		"there and on":             {then: []entry{wrote(2, 3, "member1", 5), wrote(4, 5, "member1", 4)}, most: 10},
	} {
		t.Run(name, func(t *testing.T) {
			entries := append(first[:2:2], tc.then...)
			if most, at := highest(entries, tc.absences); most != tc.most {
				t.Errorf("highest = %d at %v, want %d", most, at, tc.most)
			}
			if back := turnedBack(entries, second(1)); back != tc.back {
				t.Errorf("turnedBack = %q, want %q", back, tc.back)
			}
		})
	}
}
