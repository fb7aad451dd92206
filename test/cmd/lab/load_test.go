// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/lab"
)

func TestUsageFlags(t *testing.T) {
	cpu, memory := resource.MustParse("400m"), resource.MustParse("100Mi")
	tests := map[string]struct {
		flags   loadFlags
		want    lab.Usage
		wantErr string
	}{
		"all of them": {
			flags: loadFlags{"shop", "app=web,tier=front", "400m", "100Mi"},
			want:  lab.Usage{Namespace: "shop", Labels: map[string]string{"app": "web", "tier": "front"}, CPU: &cpu, Memory: &memory},
		},
		"one is enough": {
			flags: loadFlags{cpu: "400m"},
			want:  lab.Usage{CPU: &cpu, Labels: map[string]string{}},
		},
		"a cpu that is none": {
			flags:   loadFlags{cpu: "much"},
			wantErr: `--cpu: must be a quantity such as 400m or 2, got "much"`,
		},
		"a memory that is none": {
			flags:   loadFlags{memory: "much"},
			wantErr: `--memory: must be a quantity such as 100Mi, got "much"`,
		},
		"a selector that is more than labels": {
			flags:   loadFlags{cpu: "1", selector: "app"},
			wantErr: "--selector: must be labels such as app=web,tier=front: invalid selector: [app]",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.flags.parse()
			if err != nil || tc.wantErr != "" {
				if fmt.Sprint(err) != tc.wantErr {
					t.Fatalf("parse: error = %v, want %s", err, tc.wantErr)
				}
				return
			}
			fleettest.Same(t, "usage", tc.want, got)
		})
	}
}

func TestCommandsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		args []string
		want string
	}{
		"no such command":       {[]string{"upp"}, "unknown command \"upp\" for \"lab\"\n\nDid you mean this?\n\tup\n"},
		"no lab":                {[]string{"freeze", "member1"}, "no lab is up in " + dir + `; start one with "lab up --dir ` + dir + `"`},
		"a fault of no cluster": {[]string{"stop"}, "accepts 1 arg(s), received 0"},
		"too few members":       {[]string{"up", "--members", "-1"}, "--members: must be 0 or more, got -1"},
		"no load":               {[]string{"load", "member1"}, "at least one of the flags in the group [cpu memory] is required"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(append(tc.args, "--dir", dir))
			err := cmd.ExecuteContext(t.Context())
			if err == nil {
				t.Fatal("accepted")
			}
			fleettest.Same(t, "error", tc.want, err.Error())
		})
	}
}
