// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// reference is where `make generate` and `make verify` have the page written to.
var reference = flag.String("reference", "", "write docs/cli.md to this file")

const preface = `<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by ` + "`make generate`" + ` from the help texts in cmd/kubectl-fleetscale/app. -->

# kubectl fleetscale

` + "`kubectl-fleetscale`" + ` is a plugin of kubectl: one program without further files. ` + "`make build`" + ` builds it
into ` + "`bin/`" + `; copy it to a folder of your ` + "`PATH`" + `, and kubectl runs it as ` + "`kubectl fleetscale`" + `.
It needs nothing in a cluster but what a command says.

Errors go to standard error, and the exit code is then 1, unless a command says otherwise.

## Completion

kubectl completes the arguments of a plugin by a program ` + "`kubectl_complete-fleetscale`" + ` in your ` + "`PATH`" + `:

` + "```sh" + `
cat > ~/bin/kubectl_complete-fleetscale <<'END'
#!/bin/sh
exec kubectl-fleetscale __complete "$@"
END
chmod +x ~/bin/kubectl_complete-fleetscale
` + "```" + `

For ` + "`kubectl-fleetscale`" + ` typed as one word there is ` + "`kubectl-fleetscale completion bash|zsh|fish|powershell`" + `.

## Commands

`

// docs/cli.md says what the commands say.
func TestReferenceIsCurrent(t *testing.T) {
	t.Setenv("KUBECACHEDIR", "~/.kube/cache") // the default of a flag, which is another for everybody
	root := NewCommand(genericiooptions.NewTestIOStreamsDiscard())
	page := &bytes.Buffer{}
	page.WriteString(preface)
	commands := leaves(root)
	for _, cmd := range commands {
		fmt.Fprintf(page, "* [%s](#%s): %s\n", spoken(cmd), strings.ReplaceAll(spoken(cmd), " ", "-"), cmd.Short)
	}
	for _, cmd := range commands {
		writeCommand(page, cmd)
	}
	fmt.Fprintf(page, "\n## Flags of all commands\n\nThese are kubectl's own.\n")
	writeFlags(page, root.PersistentFlags())
	if *reference != "" {
		if err := os.WriteFile(*reference, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), page.String()); diff != "" {
		t.Errorf("docs/cli.md is not current; run make generate (-written +commands):\n%s", diff)
	}
}

// leaves are the commands that do something, in the order of their names.
func leaves(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, sub := range cmd.Commands() {
		if below := leaves(sub); len(below) > 0 {
			all = append(all, below...)
		} else if sub.Runnable() && !sub.Hidden {
			all = append(all, sub)
		}
	}
	return all
}

// spoken is what a person types after kubectl fleetscale.
func spoken(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "kubectl fleetscale ")
}

func writeCommand(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "\n## %s\n\n    %s\n\n%s\n\n```sh\n%s\n```\n", spoken(cmd), cmd.UseLine(), cmd.Long, unindented(cmd.Example))
	writeFlags(w, cmd.NonInheritedFlags())
}

func unindented(example string) string {
	lines := strings.Split(example, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

func writeFlags(w io.Writer, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprint(w, "\n| flag | default | |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		fallback := ""
		if f.DefValue != "" && f.DefValue != "[]" {
			fallback = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, fallback, strings.ReplaceAll(f.Usage, "|", "\\|"))
	})
}

// Whoever asks a command for help is told of what it does, and how it is used.
func TestCommandsHaveHelpAndExamples(t *testing.T) {
	for _, cmd := range leaves(NewCommand(genericiooptions.NewTestIOStreamsDiscard())) {
		if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "  kubectl fleetscale "+spoken(cmd)) || cmd.Args == nil {
			t.Errorf("%s has no help, no example, or takes arguments without a check", spoken(cmd))
		}
	}
}
