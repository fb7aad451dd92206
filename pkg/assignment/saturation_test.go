// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestSaturationEnds(t *testing.T) {
	tests := map[string]struct {
		change func(*Saturation)
		since  *time.Time
		ended  bool
	}{
		"Pods wait":                          {func(s *Saturation) { s.Waiting = 1 }, nil, false},
		"no room":                            {func(s *Saturation) { s.Room = new(int32(0)) }, nil, false},
		"less than none":                     {func(s *Saturation) { s.Room = new(int32(-2)) }, nil, false},
		"room from now on":                   {func(s *Saturation) { s.Room, s.Since = new(int32(1)), nil }, ago(0), false},
		"room for less than the delay":       {func(s *Saturation) { s.Room, s.Since = new(int32(1)), ago(59) }, ago(59), false},
		"room for the delay":                 {func(s *Saturation) { s.Room, s.Since = new(int32(1)), ago(60) }, ago(60), true},
		"not known, for less than 5 minutes": {func(s *Saturation) { s.Since = ago(299) }, ago(299), false},
		"not known, for 5 minutes":           {func(s *Saturation) { s.Since = ago(300) }, ago(300), true},
		"not known, and a long delay":        {func(s *Saturation) { s.Since, s.Delay = ago(400), 401*time.Second }, ago(400), false},
		"not known, and in trouble for long": {func(s *Saturation) { s.Since, s.First = ago(599), *ago(1200) }, ago(599), false},
		"and at last":                        {func(s *Saturation) { s.Since, s.First = ago(600), *ago(1200) }, ago(600), true},
		"promised, for the delay":            {func(s *Saturation) { s.Room, s.Promised, s.Since = new(int32(5)), 5, ago(60) }, ago(60), false},
		"promised, for 5 minutes":            {func(s *Saturation) { s.Room, s.Promised, s.Since = new(int32(5)), 5, ago(300) }, ago(300), true},
		"promised, and in trouble for long": {func(s *Saturation) {
			s.Room, s.Promised, s.Since, s.First = new(int32(5)), 5, ago(599), *ago(1200)
		}, ago(599), false},
		"promised, and used up":         {func(s *Saturation) { s.Room, s.Promised = new(int32(0)), 5 }, nil, false},
		"promised beside what there is": {func(s *Saturation) { s.Room, s.Promised, s.Since = new(int32(6)), 5, ago(60) }, ago(60), true},
		"known, and in trouble for long": {func(s *Saturation) { s.Room, s.Since, s.First = new(int32(1)), ago(60), *ago(1200) }, ago(60),
			true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := Saturation{First: *ago(600), Entered: *ago(600), Delay: time.Minute, Now: noon}
			tc.change(&s)
			since, ended := s.Ends()
			if diff := cmp.Diff(tc.since, since); diff != "" || ended != tc.ended {
				t.Errorf("ended: %t, since (-want +got):\n%s", ended, diff)
			}
		})
	}
}

func TestSaturatedFirst(t *testing.T) {
	tests := map[string]struct {
		before    *time.Time
		saturated bool
		since     *time.Time
		want      *time.Time
	}{
		"never":                          {nil, false, ago(7), nil},
		"for the first time":             {nil, true, ago(7), ago(7)},
		"again":                          {ago(900), true, ago(7), ago(900)},
		"well since then":                {ago(900), false, ago(300), ago(900)},
		"well for four times as long":    {ago(3000), false, ago(2400), nil},
		"well for less than that":        {ago(3000), false, ago(2399), ago(3000)},
		"after a short trouble":          {ago(1201), false, ago(1200), nil},
		"lately, after a short trouble":  {ago(1200), false, ago(1199), ago(1200)},
		"saturated, however long before": {ago(90000), true, ago(7), ago(90000)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, SaturatedFirst(tc.before, tc.saturated, *tc.since, noon))
		})
	}
}
