// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
)

// ofNoMachine are the zones that LoadZone refuses although tzdata has them.
var ofNoMachine = map[string]bool{"Factory": true}

func TestLoadZoneKnowsEveryZone(t *testing.T) {
	for name := range tzdata(t) {
		zone, err := LoadZone(name)
		if (err != nil) != ofNoMachine[name] {
			t.Errorf("LoadZone(%q) error = %v, want one: %v", name, err, ofNoMachine[name])
		}
		if err == nil && zone.String() != name {
			t.Errorf("LoadZone(%q) = %s", name, zone)
		}
	}
}

func TestLoadZoneRefusesAndSaysWhatToWriteInstead(t *testing.T) {
	const (
		machine = `means another zone on each machine: write a place such as "Europe/Berlin"`
		general = `is not the name of a zone: write one as continent and city, such as "Europe/Berlin", or "Etc/UTC"`
		no      = `is not the name of a zone: write `
		place   = no + `a place and not an abbreviation, such as `
		sign    = ` (its sign is the other way round: minus lies east), or a place such as "Asia/Tokyo", whose clock changes as that place's does`
	)
	for name, want := range map[string]string{
		"":                       `must not be empty: write a zone such as "Etc/UTC", or leave the field out`,
		"Local":                  machine,
		"local":                  machine,
		"localtime":              machine,
		"posixrules":             machine,
		"Factory":                machine,
		"PST":                    place + `"America/Los_Angeles"`,
		"pdt":                    place + `"America/Los_Angeles"`,
		"PT":                     place + `"America/Los_Angeles"`,
		"MDT":                    place + `"America/Denver"`,
		"MT":                     place + `"America/Denver"`,
		"CST":                    place + `"America/Chicago" or "Asia/Shanghai"`,
		"CDT":                    place + `"America/Chicago"`,
		"CT":                     place + `"America/Chicago"`,
		"EDT":                    place + `"America/New_York"`,
		"ET":                     place + `"America/New_York"`,
		"BST":                    place + `"Europe/London"`,
		"IST":                    place + `"Asia/Kolkata", "Europe/Dublin" or "Asia/Jerusalem"`,
		"CEST":                   place + `"Europe/Berlin"`,
		"EEST":                   place + `"Europe/Helsinki"`,
		"MSK":                    place + `"Europe/Moscow"`,
		"SGT":                    place + `"Asia/Singapore"`,
		"JST":                    place + `"Asia/Tokyo"`,
		"KST":                    place + `"Asia/Seoul"`,
		"AEST":                   place + `"Australia/Sydney"`,
		"AEDT":                   place + `"Australia/Sydney"`,
		"NZST":                   place + `"Pacific/Auckland"`,
		"NZDT":                   place + `"Pacific/Auckland"`,
		"Z":                      place + `"Etc/UTC"`,
		"UTC+8":                  no + `"Etc/GMT-8"` + sign,
		"GMT+08:00":              no + `"Etc/GMT-8"` + sign,
		"-05:00":                 no + `"Etc/GMT+5"` + sign,
		"utc+8":                  no + `"Etc/GMT-8"` + sign,
		"  ":                     general,
		"UTC+15":                 general,
		"UTC+05:30":              general,
		"8":                      general,
		"asia/shanghai":          no + `"Asia/Shanghai"`,
		"ASIA/SHANGHAI":          no + `"Asia/Shanghai"`,
		"America/New York":       no + `"America/New_York"`,
		" Asia/Tokyo ":           no + `"Asia/Tokyo"`,
		"utc":                    no + `"UTC"`,
		"us/eastern":             no + `"US/Eastern"`,
		"etc/utc":                no + `"Etc/UTC"`,
		"Tokyo":                  no + `"Asia/Tokyo"`,
		"new york":               no + `"America/New_York"`,
		"america/port-au-prince": no + `"America/Port-au-Prince"`,
		"right/Asia/Tokyo":       no + `"Asia/Tokyo"`,
		"posix/Asia/Tokyo":       no + `"Asia/Tokyo"`,
		"Asia":                   general,
		"Asia/":                  general,
		"/Asia/Tokyo":            general,
		"Asia//Tokyo":            general,
		"Asia/./Tokyo":           general,
		"Asia/../Asia/Tokyo":     general,
		"../../etc/localtime":    general,
		"Atlantis/Center":        general,
		"Zürich":                 general,
		"ⅷ":                      general,
		"a\x00b":                 general,
	} {
		if _, err := LoadZone(name); err == nil || err.Error() != want {
			t.Errorf("LoadZone(%q) error\n got %v\nwant %s", name, err, want)
		}
	}
}

// Whoever writes a zone in small letters is told its name, but for the few
// whose capitals no rule predicts.
func TestLoadZoneFindsTheCapitals(t *testing.T) {
	var missed []string
	zones := tzdata(t)
	for name := range zones {
		if _, err := LoadZone(strings.ToLower(name)); err != nil && !strings.Contains(err.Error(), `"`+name+`"`) {
			missed = append(missed, name)
		}
	}
	if len(missed)*20 > len(zones) {
		t.Errorf("%d of %d names are not found from their small letters, want 5 %% at most: %v", len(missed), len(zones), missed)
	}
}
