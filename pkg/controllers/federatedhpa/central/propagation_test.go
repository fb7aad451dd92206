// SPDX-License-Identifier: Apache-2.0

package central

import (
	"testing"
	"time"
)

func TestPropagationNext(t *testing.T) {
	earlier := start.Add(-time.Minute)
	stuck := propagation{known: true, told: 10, run: 4, stuck: earlier}
	well := propagation{known: true, told: 10, run: 10, stuck: earlier}
	tests := map[string]struct {
		before propagation
		told   int32
		run    *int32
		want   propagation
	}{
		"at first":                           {propagation{}, 10, new(int32(4)), propagation{known: true, told: 10, run: 4, stuck: start}},
		"nothing has changed":                {stuck, 10, new(int32(4)), stuck},
		"they are told something else still": {stuck, 20, new(int32(4)), propagation{known: true, told: 20, run: 4, stuck: earlier}},
		"they come nearer":                   {stuck, 10, new(int32(5)), propagation{known: true, told: 10, run: 5, stuck: start}},
		"they go away":                       {stuck, 10, new(int32(3)), propagation{known: true, told: 10, run: 3, stuck: start}},
		"they arrive":                        {stuck, 10, new(int32(10)), propagation{known: true, told: 10, run: 10, stuck: start}},
		"the hub goes where they are":        {stuck, 4, new(int32(4)), propagation{known: true, told: 4, run: 4, stuck: earlier}},
		"right after a scale":                {well, 11, new(int32(10)), propagation{known: true, told: 11, run: 10, stuck: start}},
		"it is not known":                    {stuck, 10, nil, propagation{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.before.next(tc.told, tc.run, start); got != tc.want {
				t.Errorf("next() = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestPropagationAfter(t *testing.T) {
	tests := map[string]struct {
		p    propagation
		want bool
	}{
		"not asked since":    {propagation{known: true, told: 3, run: 2, stuck: start.Add(-time.Hour), asked: start.Add(-time.Hour)}, false},
		"as they should":     {propagation{known: true, told: 3, run: 3}, false},
		"not known":          {propagation{}, false},
		"not for so long":    {propagation{known: true, told: 3, run: 2, stuck: start.Add(-time.Minute + 1)}, false},
		"precisely so long":  {propagation{known: true, told: 3, run: 2, stuck: start.Add(-time.Minute)}, true},
		"too many":           {propagation{known: true, told: 3, run: 4, stuck: start.Add(-time.Hour)}, true},
		"nothing runs":       {propagation{known: true, told: 3, stuck: start.Add(-time.Hour)}, true},
		"nothing should run": {propagation{known: true, run: 3, stuck: start.Add(-time.Hour)}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.p.asked.IsZero() {
				tc.p.asked = start
			}
			if got := tc.p.after(time.Minute); got != tc.want {
				t.Errorf("after() = %v", got)
			}
		})
	}
}

func TestPropagationDue(t *testing.T) {
	for asked, want := range map[time.Time]bool{
		{}:                            true,
		start:                         false,
		start.Add(-time.Minute/5 + 1): false,
		start.Add(-time.Minute / 5):   true,
	} {
		if got := (propagation{asked: asked}).due(time.Minute, start); got != want {
			t.Errorf("asked %s ago: due() = %v", start.Sub(asked), got)
		}
	}
}
