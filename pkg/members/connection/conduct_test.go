// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Answers are told as "+" for good ones, "-" for offences, "." for a minute that goes by;
// the answer is after how many of them the cluster was said to misbehave.
func TestConduct(t *testing.T) {
	tests := map[string]struct {
		answers string
		want    []int
	}{
		"nothing but offences":               {"----------", []int{10}},
		"one less":                           {"---------", nil},
		"over some minutes":                  {"--.--.--.--.--", []int{14}},
		"over too many minutes":              {"---.---.---.....-", nil},
		"the first counts, the window later": {"-....---------", []int{14}},
		"as many good ones":                  {"++++++++++----------", nil},
		"and one more offence":               {"++++++++++-----------", []int{21}},
		"good ones that come later":          {"-----++++++++++------", []int{21}},
		"many good ones do not last":         {strings.Repeat("+", 400) + strings.Repeat("-", 30), []int{421}},
		"it is said again":                   {"---------- ----------", []int{10, 20}},
		"what was good long ago is past":     {"+++++++++++++++.....----------", []int{30}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c conduct
			var got []int
			now, at := time.Unix(1_700_000_000, 0), 0
			for _, sign := range tc.answers {
				switch sign {
				case '.':
					now = now.Add(time.Minute)
				case ' ':
					continue
				}
				at++
				if sign == '.' {
					continue
				}
				var misbehaves bool
				if c, misbehaves = c.after(now, sign == '-'); misbehaves {
					got = append(got, at)
				}
			}
			if len(got) != len(tc.want) || len(got) > 0 && got[0] != tc.want[0] || len(got) > 1 && got[1] != tc.want[1] {
				t.Errorf("%q: misbehaves after %v, want %v", tc.answers, got, tc.want)
			}
		})
	}
}

// Who sends nothing but offences, fast enough, is always found; who sends more good answers than
// offences in every window never is.
func TestConductProperties(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 2))
		var good, bad conduct
		now, found, since := time.Unix(1_700_000_000, 0), 0, 0
		for range 500 {
			now = now.Add(time.Duration(r.Int64N(int64(conductWindow / enoughOffences))))
			var misbehaves bool
			for range 1 + r.IntN(3) {
				if good, misbehaves = good.after(now, false); misbehaves {
					t.Fatalf("seed %d: a good answer is misconduct", seed)
				}
			}
			if good, misbehaves = good.after(now, true); misbehaves {
				t.Fatalf("seed %d: found after %d good answers and %d offences", seed, good.good, good.offences)
			}
			since++
			if bad, misbehaves = bad.after(now, true); misbehaves {
				found, since = found+1, 0
			}
			if since > 2*enoughOffences {
				t.Fatalf("seed %d: %d offences in a row were not found", seed, since)
			}
		}
		if found == 0 {
			t.Fatalf("seed %d: never found", seed)
		}
	}
}
