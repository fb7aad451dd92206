// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
)

// Help returns what a program prints when it is run with the arguments and
// --help.
func Help(t *testing.T, program *cobra.Command, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	program.SetOut(&out)
	program.SetErr(&out)
	program.SetArgs(append(slices.Clone(args), "--help"))
	if err := cli.RunNoErrOutput(program); err != nil {
		t.Fatalf("%s %v --help: %v", program.Name(), args, err)
	}
	return out.String()
}

// HelpShowsFlags fails the test where --help of a program, or of one of its
// subcommands, shows other flags than the command takes. Hidden flags are taken
// and not shown.
func HelpShowsFlags(t *testing.T, program func() *cobra.Command) {
	t.Helper()
	for _, path := range append([][]string{{}}, paths(program())...) {
		root := program()
		text := Help(t, root, path...)
		cmd, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		helpShowsFlags(t, cmd, text)
	}
}

// paths are the arguments that lead to each of the commands below cmd, but for those that pass their flags on to another program.
func paths(cmd *cobra.Command) [][]string {
	var all [][]string
	for _, sub := range cmd.Commands() {
		if sub.DisableFlagParsing {
			continue
		}
		all = append(all, []string{sub.Name()})
		for _, path := range paths(sub) {
			all = append(all, append([]string{sub.Name()}, path...))
		}
	}
	return all
}

func helpShowsFlags(t *testing.T, cmd *cobra.Command, help string) {
	t.Helper()
	var accepted, shown []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			accepted = append(accepted, f.Name)
		}
	})
	for _, match := range regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], )?--([a-zA-Z0-9-]+)`).FindAllStringSubmatch(help, -1) {
		shown = append(shown, match[1])
	}
	slices.Sort(accepted)
	slices.Sort(shown)
	if diff := cmp.Diff(accepted, shown); diff != "" {
		t.Errorf("%s: flags (-accepted +shown by --help):\n%s", cmd.CommandPath(), diff)
	}
}
