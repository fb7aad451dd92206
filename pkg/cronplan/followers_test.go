// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestFollowersMissing(t *testing.T) {
	tests := map[string]struct {
		told int32
		f    Followers
		want string // of the message; empty: none are missing
	}{
		"there are no clusters": {10, Followers{}, ""},
		"they run it together":  {10, Followers{Selected: 3, Replicas: []int32{6, 4}}, ""},
		"each runs all of it":   {10, Followers{Selected: 2, Replicas: []int32{10, 10}}, ""},
		"nobody has it": {10, Followers{Selected: 2},
			"specifies 10 replicas, and those in the 2 selected clusters 0 in total: have"},
		"they run another number":        {10, Followers{Selected: 2, Replicas: []int32{5}}, "those in the 2 selected clusters 5 in total: have"},
		"the same as before":             {10, Followers{Selected: 2, Replicas: []int32{5}, Before: new(int32(5))}, "5 in total: have"},
		"they are on their way":          {10, Followers{Selected: 2, Replicas: []int32{7}, Before: new(int32(5))}, ""},
		"Pods of the hub":                {10, Followers{Selected: 2, OnHub: 10}, ""},
		"other Pods of the hub":          {10, Followers{Selected: 2, OnHub: 5}, "0 in total: have"},
		"to zero":                        {0, Followers{Selected: 2, Replicas: []int32{0, 0}}, ""},
		"to zero, and nobody goes there": {0, Followers{Selected: 2, Replicas: []int32{5}}, "5 in total: have"},
		"to zero, and nobody has it":     {0, Followers{Selected: 2}, ""},
		"one is silent": {10, Followers{Selected: 2, Silent: []string{"b"}, Replicas: []int32{5}},
			"5 in total (b did not answer): have"},
		"one is silent, and others moved": {10, Followers{Selected: 2, Silent: []string{"b"}, Replicas: []int32{7}, Before: new(int32(5))},
			"7 in total (b did not answer): have"},
		"one is silent, and the others run all": {10, Followers{Selected: 2, Silent: []string{"b"}, Replicas: []int32{10}}, ""},
		"to zero, and one is silent":            {0, Followers{Selected: 2, Silent: []string{"b"}}, "0 in total (b did not answer): have"},
		"nobody knows":                          {10, Followers{Unread: errors.New("no")}, "which clusters follow is not known: no"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			said := ""
			if missing := tc.f.Missing(deployment, tc.told); missing != nil {
				said = missing.Message
			}
			if !strings.Contains(said, tc.want) || (said == "") != (tc.want == "") {
				t.Errorf("%q, want %q", said, tc.want)
			}
		})
	}
}

// A run that no cluster follows is kept for the grace, whatever its maxDelaySeconds, or until the rule's next run; it is not
// taken for one that the trouble before had delayed.
func TestARunThatNobodyFollows(t *testing.T) {
	waits := func(s *story, at string, grace time.Duration) Decision {
		in := s.situation(at)
		in.Grace, in.Target.Trouble = grace, &Trouble{Reason: reasonNotPropagated, Message: "nobody follows"}
		d := decide(t, in)
		s.object.Status, s.delay = d.Status, d.Delay
		return d
	}
	tests := map[string]struct {
		schedule string
		grace    time.Duration
		last     string // when it is given up
	}{
		"for the grace":       {"0 9 * * *", 5 * time.Minute, "09:06:00"},
		"until the next run":  {"*/3 * * * *", 5 * time.Minute, "09:03:00"},
		"for a minute anyway": {"0 9 * * *", 0, "09:02:00"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rule := sets("r", tc.schedule, 7)
			rule.MaxDelaySeconds = new(int64(65))
			s := tell(t, deployment, rule)
			s.goes("08:59")
			s.fails("09:00", reasonUnreachable, "503")
			at, last := moment(t, "09:01:00"), moment(t, tc.last)
			for at.Before(last) {
				d := waits(s, at.Format("15:04:05"), tc.grace)
				if len(d.News) > 0 || d.Delay == nil || !d.Delay.Quiet() {
					t.Fatalf("at %v: %+v, delayed by %+v", at, d.News, d.Delay)
				}
				if pause := d.Wake.Sub(at); pause < 2*time.Second && d.Wake.Before(last) || pause > time.Minute {
					t.Fatalf("at %v it waits %v", at, pause)
				}
				at = d.Wake
			}
			d := waits(s, at.Format("15:04:05"), tc.grace)
			if len(d.News) != 1 || d.News[0].Result == Succeeded || !at.Equal(last) {
				t.Fatalf("at %v: %+v", at, d.News)
			}
			if !strings.HasSuffix(d.News[0].Message, "nobody follows") {
				t.Error(d.News[0].Message)
			}
		})
	}
}
