// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/member"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func silentView() View {
	return View{
		State: "Silent", Reason: "Timeout", Message: "no answer within 5s", Accepted: true, Since: began, TokenExpiry: began.Add(time.Hour),
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	views := map[string]View{
		"east": viewOf(member.State{Ready: true, Reason: "Ready", Since: began.Add(time.Millisecond)},
			member.Traits{AskedRights: true, MissingRights: []string{"list pods"}}, time.Time{}, View{}),
		"west": silentView(),
	}
	want := maps.Clone(views)
	ready := View{State: "Ready", Reason: "Ready", Accepted: true, Since: began, MissingRights: []string{"list pods"}}
	fleettest.Same(t, "a ready member", ready, want["east"])
	fleettest.Same(t, "", want, Decode(encode(views, nil, leader("now"))))
}

// What is no news is not written: other words of a probe, and since when, which each leader knows for itself.
func TestNews(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*View)
		want   bool
	}{
		"nothing":      {func(*View) {}, false},
		"other words":  {func(v *View) { v.Message = "no answer within 6s" }, false},
		"since":        {func(v *View) { v.Since = began.Add(time.Hour) }, false},
		"state":        {func(v *View) { v.State = "Joining" }, true},
		"reason":       {func(v *View) { v.Reason = "Forbidden" }, true},
		"accepted":     {func(v *View) { v.Accepted = false }, true},
		"token expiry": {func(v *View) { v.TokenExpiry = began.Add(2 * time.Hour) }, true},
		"rights":       {func(v *View) { v.MissingRights = []string{"list pods"} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			stored := encode(map[string]View{"west": silentView()}, nil, leader("now"))
			now := silentView()
			tc.change(&now)
			if got := !maps.Equal(stored, encode(map[string]View{"west": now}, stored, leader("now"))); got != tc.want {
				t.Errorf("written: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestMembersThatLeftAreRemoved(t *testing.T) {
	stored := encode(map[string]View{"east": silentView(), "west": silentView()}, nil, leader("then"))
	got := encode(map[string]View{"west": silentView()}, stored, leader("now"))
	if len(got) != 2 || got[renewedKey] != "now" || got["west"] != stored["west"] {
		t.Errorf("stored %v", got)
	}
}

// What an earlier leader was told of rights stands until this one has asked.
func TestRightsOfAView(t *testing.T) {
	many := make([]string, 10)
	for i := range many {
		many[i] = fmt.Sprint("get x", i)
	}
	for name, tc := range map[string]struct {
		traits member.Traits
		want   []string
	}{
		"not asked yet":      {member.Traits{}, []string{"list pods"}},
		"others are missing": {member.Traits{AskedRights: true, MissingRights: []string{"list nodes"}}, []string{"list nodes"}},
		"none is missing":    {member.Traits{AskedRights: true}, nil},
		"more than are told": {member.Traits{AskedRights: true, MissingRights: many}, append(many[:7:7], "and 3 more")},
	} {
		got := viewOf(member.State{}, tc.traits, time.Time{}, View{MissingRights: []string{"list pods"}}).MissingRights
		fleettest.Same(t, name, tc.want, got)
	}
}

// A thousand members of the longest names and messages, and as many as fit beyond that.
func TestSizes(t *testing.T) {
	long := silentView()
	long.Reason, long.Message = strings.Repeat("R", 64), strings.Repeat("m", 300)
	for range mostRights {
		long.MissingRights = append(long.MissingRights, strings.Repeat("r", grants.MostText))
	}
	for count, want := range map[int]int{1000: 1000, 5000: 1500} {
		views := map[string]View{}
		for i := range count {
			views[fmt.Sprintf("%063d", i)] = long
		}
		data, bytes := encode(views, nil, leader("now")), 0
		for name, text := range data {
			bytes += len(name) + len(text)
		}
		if len(data) < want || bytes > mostBytes {
			t.Errorf("of %d members %d are published, in %d bytes; want %d or more", count, len(data), bytes, want)
		}
		if again := encode(views, data, leader("now")); !maps.Equal(data, again) {
			t.Errorf("of %d members others are published the next time", count)
		}
		for name, v := range Decode(data) {
			if n := grants.Count(v.MissingRights); n != mostRights {
				t.Fatalf("of %s %d rights are missing, want %d: %q", name, n, mostRights, v.MissingRights)
			}
		}
	}
	if v := Decode(encode(map[string]View{"west": long}, nil, leader("now")))["west"]; len(v.MissingRights) != mostRights {
		t.Errorf("of one member %d rights are told", len(v.MissingRights))
	}
	long.Message = strings.Repeat("\U0001F525", 300) // of four bytes each
	if v := Decode(encode(map[string]View{"west": long}, nil, leader("now")))["west"]; len(v.MissingRights) != 1 {
		t.Errorf("of a member with a long message %q is told", v.MissingRights)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("east", `{"state":"Ready","reason":"Ready"}`)
	f.Add("east", `{"state":"Silent","reason":"\u001b[2J","since":"x"}`)
	f.Add("east", `{"state":"Ready","missingRights":["\u001b[2J","","","","","","","","",""]}`)
	f.Add("east", `{"state":"Ready","missingRights":["`+strings.Repeat("r", 300)+`"]}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, v := range Decode(map[string]string{name: text}) {
			if v.State == "" || len([]rune(v.Reason)) > mostReason || len([]rune(v.Message)) > mostMessage ||
				len(v.MissingRights) > mostRights {
				t.Errorf("%q is read as %+v", text, v)
			}
			for _, right := range v.MissingRights {
				if right != fleet.Printable(right, grants.MostText) {
					t.Errorf("%q is read as %q", text, right)
				}
			}
		}
	})
}

// leader is what a leader says of itself that serves no record.
func leader(renewed string) map[string]string { return map[string]string{renewedKey: renewed} }
