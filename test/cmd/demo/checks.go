// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// check says what is wrong with what kubectl printed.
type check func(fixture.Said) error

// shows wants all words to be there.
func shows(words ...string) check {
	return func(said fixture.Said) error {
		for _, word := range words {
			if !strings.Contains(said.Stdout+said.Stderr, word) {
				return fmt.Errorf("%q is missing in:\n%s%s", word, said.Stderr, said.Stdout)
			}
		}
		return nil
	}
}

// hides wants none of the words to be there.
func hides(words ...string) check {
	return func(said fixture.Said) error {
		for _, word := range words {
			if strings.Contains(said.Stdout+said.Stderr, word) {
				return fmt.Errorf("%q should not be in:\n%s%s", word, said.Stderr, said.Stdout)
			}
		}
		return nil
	}
}

// each wants what all of the checks want.
func each(checks ...check) check {
	return func(said fixture.Said) error {
		for _, promised := range checks {
			if err := promised(said); err != nil {
				return err
			}
		}
		return nil
	}
}

// lists wants a table of so many pods.
func lists(pods int) check {
	return func(said fixture.Said) error {
		if got := len(rows(said.Stdout)); got != pods {
			return fmt.Errorf("%d pods and not %d in:\n%s", got, pods, said.Stdout)
		}
		return nil
	}
}

// equalRows wants two tables to be equal but for the order and padding of their lines.
func equalRows(got, want string) error {
	if !slices.Equal(rows(got), rows(want)) {
		return fmt.Errorf("the fleet's figures:\n%sare not those of its members:\n%s", got, want)
	}
	return nil
}

// sameNames wants two tables to tell of the same pods.
func sameNames(got, want string) error {
	if !slices.Equal(names(got), names(want)) {
		return fmt.Errorf("these pods:\n%sare not those from before:\n%s", got, want)
	}
	return nil
}

func names(table string) []string {
	var all []string
	for _, row := range rows(table) {
		name, _, _ := strings.Cut(row, " ")
		all = append(all, name)
	}
	return all
}
