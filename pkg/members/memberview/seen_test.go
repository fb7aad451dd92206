// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What is published holds for three minutes after it was last renewed, by the clock of who reads it.
func TestStale(t *testing.T) {
	data := func(renewed string) map[string]string {
		return encode(map[string]View{"west": silentView()}, nil, leader(renewed))
	}
	var s Seen
	if _, stale, known := s.Of("west", began); stale || known {
		t.Errorf("before anything was read: stale %v, known %v", stale, known)
	}
	for _, step := range []struct {
		name  string
		after time.Duration // since began
		read  string        // the renewal that is read; empty: nothing is
		stale bool
	}{
		{"the first time it is read", 0, "2001-01-01T00:00:00Z", false},
		{"while it holds", 3 * time.Minute, "", false},
		{"no longer", 3*time.Minute + 1, "", true},
		{"a change without a renewal", 4 * time.Minute, "2001-01-01T00:00:00Z", true},
		{"a renewal", 5 * time.Minute, "2001-01-01T00:01:00Z", false},
		{"a clock that was set back", 7 * time.Minute, "2000-12-31T23:00:00Z", false},
		{"it holds from when it was read", 10 * time.Minute, "", false},
		{"and no longer", 10*time.Minute + 1, "", true},
		{"by who does not renew", 11 * time.Minute, "none", false},
	} {
		now := began.Add(step.after)
		if step.read != "" {
			s.read(data(step.read), now)
		}
		v, stale, known := s.Of("west", now)
		if !known || stale != step.stale || v.State != silentView().State {
			t.Errorf("%s: stale %v, known %v, want stale %v", step.name, stale, known, step.stale)
		}
	}
	// An older controller-manager writes no renewals.
	s.read(data(""), began.Add(12*time.Minute))
	if _, stale, known := s.Of("west", began.Add(time.Hour)); stale || !known {
		t.Errorf("of who does not renew: stale %v, known %v", stale, known)
	}
	if _, stale, known := s.Of("north", began.Add(time.Hour)); stale || known {
		t.Errorf("a cluster that nobody published: stale %v, known %v", stale, known)
	}
}

// Where the record is served holds as long as all that is published, and is an address, whatever is stored.
func TestWhereTheRecordIs(t *testing.T) {
	const renewed = "2001-01-01T00:00:00Z"
	for name, tc := range map[string]struct {
		stored map[string]string
		after  time.Duration
		want   []string
	}{
		"it is served": {map[string]string{renewedKey: renewed, recordKey: "10.1.2.3:8444"}, 3 * time.Minute,
			[]string{"10.1.2.3:8444"}},
		"with six as the version": {map[string]string{renewedKey: renewed, recordKey: "[fd00::1]:8444"}, 0, []string{"[fd00::1]:8444"}},
		"each has a part": {map[string]string{renewedKey: renewed, recordKey: "10.1.2.3:8444,10.1.2.4:8444"}, 0,
			[]string{"10.1.2.3:8444", "10.1.2.4:8444"}},
		"more than a record has parts": {map[string]string{renewedKey: renewed,
			recordKey: "10.1.2.3:8444" + strings.Repeat(",10.1.2.3:8444", mostRecords)}, 0, nil},
		"one of them is no address": {map[string]string{renewedKey: renewed, recordKey: "10.1.2.3:8444,"}, 0, nil},
		"nobody is at work":         {map[string]string{renewedKey: renewed, recordKey: "10.1.2.3:8444"}, 3*time.Minute + 1, nil},
		"it is not":                 {map[string]string{renewedKey: renewed}, 0, nil},
		"a name is no address":      {map[string]string{renewedKey: renewed, recordKey: "elsewhere.example:8444"}, 0, nil},
		"nor is a path":             {map[string]string{renewedKey: renewed, recordKey: "10.1.2.3:8444/x"}, 0, nil},
		"it is no cluster, either":  {map[string]string{renewedKey: renewed, recordKey: `{"state":"Ready"}`}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var s Seen
			if got := s.Records(began); got != nil {
				t.Errorf("before anything was read: %q", got)
			}
			s.read(tc.stored, began)
			if got := s.Records(began.Add(tc.after)); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if _, _, known := s.Of(recordKey, began); known {
				t.Error("it is taken for a cluster")
			}
		})
	}
}
