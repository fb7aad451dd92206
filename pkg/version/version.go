// SPDX-License-Identifier: Apache-2.0

package version

import (
	"cmp"
	"runtime/debug"
)

const (
	module  = "github.com/fleetscale/fleetscale"
	unknown = "v0.0.0-unknown"
)

// release is set where Go cannot know the version, as in an archive of the source, which has no
// .git: go build -ldflags "-X github.com/fleetscale/fleetscale/pkg/version.release=v0.1.0".
// The linker needs a variable, and nothing else writes it.
var release string

// Info is what is known of a build.
type Info struct {
	// Version is a semantic version, as v0.1.0. Between releases it is Go's
	// pseudo-version; +dirty says that files were changed.
	Version string
	// Revision is the commit; empty if not known.
	Revision string
	// Modified says that files were changed after the commit.
	Modified bool
	// Go is the version of Go.
	Go string
}

// Get returns what is known of the running program.
func Get() Info {
	build, _ := debug.ReadBuildInfo()
	return of(release, build)
}

// of prefers what the linker was told. build may be nil.
func of(release string, build *debug.BuildInfo) Info {
	if build == nil {
		return Info{Version: cmp.Or(release, unknown)}
	}
	info := Info{Version: cmp.Or(release, moduleVersion(build), unknown), Go: build.GoVersion}
	if build.Main.Path != module {
		return info // the commit is that of another repository
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// moduleVersion is the version of our module in the build, or empty.
func moduleVersion(build *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if m.Path == module && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}
