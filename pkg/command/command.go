// SPDX-License-Identifier: Apache-2.0

// Package command holds what the command lines of all programs share.
package command

import (
	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
)

// Options are the options of a program.
type Options interface {
	// Flags binds the options to flags, in the sections of --help.
	Flags() cliflag.NamedFlagSets
	// Validate returns all faults at once.
	Validate() error
}

// Complete adds the flags of its options to a command that has its name and help
// text, and makes it validate them before it runs. The caller prints errors.
func Complete(cmd *cobra.Command, o Options, logging *logs.Options, run func() error) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := logsapi.ValidateAndApply(logging, nil); err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		return run()
	}
	sets := o.Flags()
	addVersion(cmd, sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	showSections(cmd, sets)
	return cmd
}

// showSections makes --help show the flags of the command in sections. Subcommands
// would inherit that although they have other flags, so they get cobra's own
// functions back.
func showSections(cmd *cobra.Command, sets cliflag.NamedFlagSets) {
	var plain cobra.Command
	plainUsage, plainHelp := plain.UsageFunc(), plain.HelpFunc()
	width, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, sets, width)
	usage, help := cmd.UsageFunc(), cmd.HelpFunc()
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if c != cmd {
			return plainUsage(c)
		}
		return usage(c)
	})
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != cmd {
			plainHelp(c, args)
			return
		}
		help(c, args)
	})
}
