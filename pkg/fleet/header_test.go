// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What one program writes into the header another reads out of it, every part for itself and all together.
func TestHeader(t *testing.T) {
	silent := func(cluster string, reason Reason) SilentMember {
		return SilentMember{cluster, Silence{Reason: reason}}
	}
	tests := map[string]struct {
		coverage Coverage
		want     string
	}{
		"nobody was asked": {Coverage{}, ""},
		"who answered":     {Coverage{Answered: []string{"east", "north"}}, "answered=east,north"},
		"one answered":     {Coverage{Answered: []string{"east"}}, "answered=east"},
		"who has none":     {Coverage{Absent: []string{"north", "west"}}, "absent=north,west"},
		"who is silent, and why": {Coverage{Silent: []SilentMember{silent("south", ReasonForbidden), silent("west", ReasonTimeout)}},
			"silent=south:Forbidden,west:Timeout"},
		"whose part is known from others": {Coverage{Covered: []string{"south", "west"}}, "covered=south,west"},
		"all of it": {Coverage{
			Answered: []string{"east", "north"}, Absent: []string{"north"},
			Silent: []SilentMember{silent("south", ReasonForbidden), silent("west", ReasonTimeout)}, Covered: []string{"west"},
		}, "answered=east,north;absent=north;silent=south:Forbidden,west:Timeout;covered=west"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "Header()", tc.want, tc.coverage.Header())
			got, err := ParseCoverage(tc.want)
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, fmt.Sprintf("ParseCoverage(%q)", tc.want), tc.coverage, got)
		})
	}
}

// A detail is for people, and may hold anything: it would break the header.
func TestHeaderHasNoDetails(t *testing.T) {
	c := Coverage{Silent: []SilentMember{{"west", Silence{ReasonServerError, "no; a=b,c"}}}}
	if got := c.Header(); got != "silent=west:ServerError" {
		t.Errorf("Header() = %q", got)
	}
}

// An error leaves nothing of what was read before it: a part is never passed off as the whole.
func TestParseCoverageReturnsNothingBesideAnError(t *testing.T) {
	for _, header := range []string{"answered=a;whatever=b", "answered=a;silent=b", "answered=a;", "silent=a:Timeout,b:",
		"answered=a;silent=b:Timeout,:Timeout"} {
		c, err := ParseCoverage(header)
		if err == nil {
			t.Errorf("ParseCoverage(%q) is no error", header)
		}
		fleettest.Same(t, fmt.Sprintf("ParseCoverage(%q)", header), Coverage{}, c)
	}
}
