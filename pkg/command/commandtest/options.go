// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// Options are those of a program.
type Options interface {
	Flags() cliflag.NamedFlagSets
	Validate() error
}

// Parsed returns a program's options as its arguments set them.
func Parsed[O Options](t *testing.T, o O, args ...string) O {
	t.Helper()
	fs := pflag.NewFlagSet("program", pflag.ContinueOnError)
	sets := o.Flags()
	for _, set := range sets.FlagSets {
		fs.AddFlagSet(set)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

// Refusals holds the defaults to be valid, and each of these arguments to be refused so.
func Refusals[O Options](t *testing.T, options func() O, refusals map[string]struct {
	Args []string
	Want string
}) {
	t.Helper()
	if err := Parsed(t, options()).Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for name, tc := range refusals {
		t.Run(name, func(t *testing.T) {
			err := Parsed(t, options(), tc.Args...).Validate()
			if err == nil {
				t.Fatalf("%v is accepted, want %q", tc.Args, tc.Want)
			}
			if diff := cmp.Diff(tc.Want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
