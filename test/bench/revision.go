// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"runtime/debug"
)

// revision is the commit that this program is built from, as far as Go knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "commit unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	const short = 12
	commit := settings["vcs.revision"]
	if commit = commit[:min(short, len(commit))]; commit != "" && settings["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return cmp.Or(commit, "commit unknown")
}
