// SPDX-License-Identifier: Apache-2.0

package command

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestNamespaces(t *testing.T) {
	tests := map[string]struct {
		args       []string
		namespaces []string // of the cache; nil: all
		faults     []string
	}{
		"all by default":     {},
		"one flag":           {args: []string{"--namespaces=shop,pay"}, namespaces: []string{"pay", "shop"}},
		"several flags":      {args: []string{"--namespaces=shop", "--namespaces=pay"}, namespaces: []string{"pay", "shop"}},
		"an empty one":       {args: []string{"--namespaces="}},
		"each fault is told": {args: []string{"--namespaces=shop,shop,kube-system"}, faults: []string{"kube-system", "more than once"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var o NamespaceOptions
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			var lines []string
			if err := o.Validate(); err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(tc.faults) {
				t.Fatalf("faults %q, want %q", lines, tc.faults)
			}
			for i, fault := range tc.faults {
				if !strings.HasPrefix(lines[i], "--namespaces: ") || !strings.Contains(lines[i], fault) {
					t.Errorf("fault %q, want --namespaces: … %s", lines[i], fault)
				}
			}
			if tc.faults != nil {
				return
			}
			got := slices.Sorted(maps.Keys(o.Cache(cache.Options{}).DefaultNamespaces))
			fleettest.Same(t, "namespaces of the cache", tc.namespaces, got)
			fleettest.Same(t, "scope", tc.namespaces, o.Scope().Names())
		})
	}
}
