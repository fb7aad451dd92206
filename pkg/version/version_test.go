// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestVersionOfABuild(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "vcs.revision", Value: "19ea723"},
		{Key: "vcs.modified", Value: "true"}}
	tests := map[string]struct {
		release string
		build   *debug.BuildInfo
		want    Info
	}{
		"nothing is known":                          {"", nil, Info{Version: "v0.0.0-unknown"}},
		"the linker was told, and Go knows nothing": {"v0.1.0", nil, Info{Version: "v0.1.0"}},
		"a checkout": {
			"", &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: module, Version: "v0.0.0-20260101000000-19ea723+dirty"},
				Settings: commit},
			Info{Version: "v0.0.0-20260101000000-19ea723+dirty", Revision: "19ea723", Modified: true, Go: "go1.26.8"},
		},
		"a checkout of which Go was not to know": {
			"", &debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}},
			Info{Version: "v0.0.0-unknown"},
		},
		"the linker knows better than Go": {
			"v0.1.0", &debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.0.0-20260101000000-19ea723"}, Settings: commit},
			Info{Version: "v0.1.0", Revision: "19ea723", Modified: true},
		},
		"a program of another module, with its commit": {
			"", &debug.BuildInfo{
				Main: debug.Module{Path: "example.com/other", Version: "v9.9.9"}, Settings: commit,
				Deps: []*debug.Module{{Path: "example.com/third", Version: "v8.8.8"}, {Path: module, Version: "v0.2.0"}},
			},
			Info{Version: "v0.2.0"},
		},
	}
	for name, tc := range tests {
		fleettest.Same(t, name, tc.want, of(tc.release, tc.build))
	}
}

func TestThisProgramHasAVersion(t *testing.T) {
	if got := Get(); !strings.HasPrefix(got.Version, "v") || !strings.HasPrefix(got.Go, "go") {
		t.Errorf("%+v", got)
	}
}
