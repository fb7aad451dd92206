// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		"east": viewOf(member.State{Ready: true, Reason: "Ready", Since: began.Add(time.Millisecond)}, time.Time{}), "west": silentView(),
	}
	want := maps.Clone(views)
	if want["east"] != (View{State: "Ready", Reason: "Ready", Accepted: true, Since: began}) {
		t.Errorf("a ready member is %+v", want["east"])
	}
	if diff := cmp.Diff(want, Decode(encode(views, nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
	} {
		t.Run(name, func(t *testing.T) {
			stored := encode(map[string]View{"west": silentView()}, nil)
			now := silentView()
			tc.change(&now)
			if got := !maps.Equal(stored, encode(map[string]View{"west": now}, stored)); got != tc.want {
				t.Errorf("written: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestMembersThatLeftAreRemoved(t *testing.T) {
	stored := encode(map[string]View{"east": silentView(), "west": silentView()}, nil)
	if got := encode(map[string]View{"west": silentView()}, stored); len(got) != 1 || got["west"] != stored["west"] {
		t.Errorf("stored %v", got)
	}
}

// A thousand members of the longest names and messages, and as many as fit beyond that.
func TestSizes(t *testing.T) {
	long := silentView()
	long.Reason, long.Message = strings.Repeat("R", 64), strings.Repeat("m", 300)
	for count, want := range map[int]int{1000: 1000, 5000: 1500} {
		views := map[string]View{}
		for i := range count {
			views[fmt.Sprintf("%063d", i)] = long
		}
		data, bytes := encode(views, nil), 0
		for name, text := range data {
			bytes += len(name) + len(text)
		}
		if len(data) < want || bytes > mostBytes {
			t.Errorf("of %d members %d are published, in %d bytes; want %d or more", count, len(data), bytes, want)
		}
		if again := encode(views, data); !maps.Equal(data, again) {
			t.Errorf("of %d members others are published the next time", count)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("east", `{"state":"Ready","reason":"Ready"}`)
	f.Add("east", `{"state":"Silent","reason":"\u001b[2J","since":"x"}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, v := range Decode(map[string]string{name: text}) {
			if v.State == "" || len([]rune(v.Reason)) > mostReason || len([]rune(v.Message)) > mostMessage {
				t.Errorf("%q is read as %+v", text, v)
			}
		}
	})
}
