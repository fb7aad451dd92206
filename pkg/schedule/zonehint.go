// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// instead returns what the writer of an unknown zone may have meant, or "".
func instead(name string) string {
	if place := ofAbbreviation(strings.ToUpper(name)); place != "" {
		return fmt.Sprintf("a place and not an abbreviation, such as %s", place)
	}
	if fixed := ofOffset(strings.ToUpper(name)); fixed != "" {
		return fmt.Sprintf("%q (its sign is the other way round: minus lies east), or a place such as %q, whose clock changes as that place's "+
			"does", fixed, "Asia/Tokyo")
	}
	for _, candidate := range respelled(name) {
		if _, ok := load(candidate); ok {
			return strconv.Quote(candidate)
		}
	}
	return ""
}

// ofAbbreviation returns quoted places for what people write of their own
// zone. Some abbreviations stand for several.
func ofAbbreviation(name string) string {
	return map[string]string{
		"PST":  `"America/Los_Angeles"`,
		"PDT":  `"America/Los_Angeles"`,
		"PT":   `"America/Los_Angeles"`,
		"MDT":  `"America/Denver"`,
		"MT":   `"America/Denver"`,
		"CST":  `"America/Chicago" or "Asia/Shanghai"`,
		"CDT":  `"America/Chicago"`,
		"CT":   `"America/Chicago"`,
		"EDT":  `"America/New_York"`,
		"ET":   `"America/New_York"`,
		"BST":  `"Europe/London"`,
		"IST":  `"Asia/Kolkata", "Europe/Dublin" or "Asia/Jerusalem"`,
		"CEST": `"Europe/Berlin"`,
		"EEST": `"Europe/Helsinki"`,
		"MSK":  `"Europe/Moscow"`,
		"SGT":  `"Asia/Singapore"`,
		"JST":  `"Asia/Tokyo"`,
		"KST":  `"Asia/Seoul"`,
		"AEST": `"Australia/Sydney"`,
		"AEDT": `"Australia/Sydney"`,
		"NZST": `"Pacific/Auckland"`,
		"NZDT": `"Pacific/Auckland"`,
		"Z":    `"Etc/UTC"`,
	}[name]
}

// ofOffset turns UTC+8, GMT+08:00 or +8 into the zone of that fixed offset.
func ofOffset(name string) string {
	offset := strings.TrimPrefix(strings.TrimPrefix(name, "UTC"), "GMT")
	hours, err := strconv.Atoi(strings.TrimSuffix(offset, ":00"))
	if err != nil || !strings.ContainsAny(offset[:1], "+-") {
		return ""
	}
	fixed := fmt.Sprintf("Etc/GMT%+d", -hours)
	if _, ok := load(fixed); !ok {
		return ""
	}
	return fixed
}

// respelled returns other spellings of a name: trimmed, with capitals where
// most names have them, in capitals as UTC is, and as a city of each continent.
func respelled(name string) []string {
	name = strings.Join(strings.Fields(name), "_")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")
	capitals := capitalized(name)
	spellings := []string{name, capitals, strings.ToUpper(name), strings.Replace(strings.ToUpper(name), "ETC/", "Etc/", 1)}
	for _, continent := range []string{"Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"} {
		spellings = append(spellings, continent+"/"+capitals)
	}
	return spellings
}

// capitalized begins each word with a capital, save those that names of
// places keep small.
func capitalized(name string) string {
	begins := true
	letters := strings.Map(func(r rune) rune {
		if begins {
			r = unicode.ToUpper(r)
		}
		begins = strings.ContainsRune("/_-", r)
		return r
	}, strings.ToLower(name))
	return strings.NewReplacer("_Of_", "_of_", "_Es_", "_es_", "-Au-", "-au-", "Us/", "US/").Replace(letters)
}
