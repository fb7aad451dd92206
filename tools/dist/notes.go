// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// notes are what a changelog says of a version, or, for a commit between versions, of what is not released yet.
func notes(changelog, version string) (string, error) {
	heading, at := "Unreleased", "main"
	if isRelease(version) {
		heading, at = version, version
	}
	var section strings.Builder
	inside := false
	for line := range strings.Lines(changelog) {
		if title, found := strings.CutPrefix(line, "## "); found {
			inside = names(title, heading)
			continue
		}
		if inside {
			section.WriteString(line)
		}
	}
	text := strings.TrimSpace(section.String())
	if text == "" {
		return "", fmt.Errorf("CHANGELOG.md has nothing below a heading ## %s: write there what is new", heading)
	}
	text = relative.ReplaceAllString(text, "]("+homepage+"/blob/"+at+"/$1)")
	return "# fleetscale " + version + "\n\n" + text + "\n", nil
}

// relative are links to files of the checkout, which lead nowhere from the page of a release.
var relative = regexp.MustCompile(`\]\(([^():#]+(?:#[^()]*)?)\)`)

// names reports whether a heading is that of a version: v0.1.0, [0.1.0] - 2026-12-01, Unreleased.
func names(title, version string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(title), " ")
	return strings.TrimPrefix(strings.Trim(first, "[]"), "v") == strings.TrimPrefix(version, "v")
}
