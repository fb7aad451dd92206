// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	t.Setenv("TZ", "")
	o := NewOptions()
	fs := pflag.NewFlagSet("controller-manager", pflag.ContinueOnError)
	sets := o.Flags()
	for _, set := range sets.FlagSets {
		fs.AddFlagSet(set)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDefaultsAreValid(t *testing.T) {
	if err := parsed(t).Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

func TestTimeZoneOfTheEnvironment(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	if got := NewOptions().Cron.TimeZone; got != "Asia/Tokyo" {
		t.Errorf("time zone %q", got)
	}
	t.Setenv("TZ", "")
	if got := NewOptions().Cron.TimeZone; got != "UTC" {
		t.Errorf("time zone %q without one in the environment", got)
	}
}

func TestValidateNamesTheFlag(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no such zone":             {[]string{"--time-zone=Asia/Tokio"}, `--time-zone: "Asia/Tokio" is not the name of a zone: write one as continent and city, such as "Europe/Berlin", or "Etc/UTC"`},
		"nobody works":             {[]string{"--concurrent-cronfederatedhpa-syncs=0"}, "--concurrent-cronfederatedhpa-syncs: must be 1 or more, got 0"},
		"no time to answer":        {[]string{"--hub-timeout=0"}, "--hub-timeout: must be above 0, got 0s"},
		"no place for the Lease":   {[]string{"--leader-elect-resource-namespace="}, "--leader-elect-resource-namespace: must be set"},
		"lease without a pause":    {[]string{"--leader-elect-retry-period=0"}, "--leader-elect-retry-period: must be above 0, got 0s"},
		"renewed too rarely":       {[]string{"--leader-elect-renew-deadline=2s"}, "--leader-elect-renew-deadline: must be above 2.4s with this retry period, got 2s"},
		"two leaders":              {[]string{"--leader-elect-lease-duration=10s"}, "--leader-elect-lease-duration: must be above --leader-elect-renew-deadline (10s), got 10s"},
		"several faults, all told": {[]string{"--hub-timeout=0", "--time-zone="}, "--hub-timeout: must be above 0, got 0s\n--time-zone: \"\" must not be empty: write a zone such as \"Etc/UTC\", or leave the field out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := parsed(t, tc.args...).Validate()
			if err == nil {
				t.Fatalf("%v is accepted, want %q", tc.args, tc.want)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every flag that the manifests pass is one of ours, with a value that it takes.
func TestManifestsPassFlagsThatExist(t *testing.T) {
	commandtest.ManifestFlags(t, func() *cobra.Command { return NewCommand(t.Context()) }, commandtest.None, "../../../deploy/base/controller-manager", "../../../deploy/overlays/karmada/controller-manager-host")
}
