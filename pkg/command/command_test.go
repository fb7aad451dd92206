// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// loggingOnly are options of a program that has no others.
type loggingOnly struct{ logging *logs.Options }

func (o loggingOnly) Flags() (sets cliflag.NamedFlagSets) {
	logsapi.AddFlags(o.logging, sets.FlagSet("logging"))
	return sets
}

func (loggingOnly) Validate() error { return nil }

// What the libraries register for themselves must not take the place of an option, not even in some processes: maps
// have no order.
func TestVerbosityReachesTheOptions(t *testing.T) {
	for range 50 {
		o := loggingOnly{logs.NewOptions()}
		cmd := Complete(&cobra.Command{Use: "program"}, o, o.logging, func() error { return nil })
		if err := cmd.ParseFlags([]string{"-v=7"}); err != nil {
			t.Fatal(err)
		}
		if got := int(o.logging.Verbosity); got != 7 {
			t.Fatalf("-v=7 gives verbosity %d", got)
		}
	}
}
