// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// LoadZone finds a zone by its IANA name, such as Asia/Tokyo. The error is one
// line for the person who wrote it, with what to write instead, but without the
// name itself. Each call reads and holds the zone again: keep what it returns.
//
// Names that mean something else on each machine are refused, and so is what is
// only found where zones are installed as files, such as right/Asia/Tokyo: the
// same name must mean the same to every program.
func LoadZone(name string) (*time.Location, error) {
	switch {
	case name == "":
		return nil, errors.New(`must not be empty: write a zone such as "Etc/UTC", or leave the field out`)
	case ofMachine(name):
		return nil, errors.New(`means another zone on each machine: write a place such as "Europe/Berlin"`)
	}
	if zone, ok := load(name); ok {
		return zone, nil
	}
	if hint := instead(name); hint != "" {
		return nil, fmt.Errorf("is not the name of a zone: write %s", hint)
	}
	return nil, errors.New(`is not the name of a zone: write one as continent and city, such as "Europe/Berlin", or "Etc/UTC"`)
}

func ofMachine(name string) bool {
	return strings.EqualFold(name, "Local") || name == "localtime" || name == "posixrules" || name == "Factory"
}

// load rejects what is a path and not a name: time.LoadLocation searches
// directories too.
func load(name string) (*time.Location, bool) {
	first, _, _ := strings.Cut(name, "/")
	if first == "" || first == "posix" || first == "right" || strings.Contains(name, ".") || strings.Contains(name, "//") {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}
