// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/doctor"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

const doctorHelp = `Find what is wrong with the installation, the members and the autoscalers, and say how to repair it.

Nothing is changed: the hub is read, and judges one FederatedHPA without storing it. Below the table of checks (✓ passed, ✗ failed,
! a warning, ? not checked, - skipped) each fault has a command that repairs it, or tells more where people have to decide.
Commands lead to the hub by the flags that you gave. They name no token, but TOKEN; and HUB, where a command takes but a context of the
hub, and your flags say more. Commands that name deploy/ are run in a checkout, and contexts of members are taken to have the members'
names, unless --member-context says otherwise.

Members are seen as the metrics-adapter and the controller-manager see them, by members.fleetscale.io. With --member-context a member is
asked itself too: whether our identities have their rights there, and whether autoscalers were left behind.

Only your own rights are used. What you may not read is not checked, and that is said: to check everything takes the rights of an
administrator of the hub, whereas of Secrets only the metadata are read.

The exit code is 0 if there are at most warnings, 1 if there are errors, and 2 if there are none, but not everything could be checked.`

const doctorExample = `  kubectl fleetscale doctor

  # What each check is about, and what was found, for programs.
  kubectl fleetscale doctor -o wide
  kubectl fleetscale doctor -o json

  # Ask members themselves, too.
  kubectl fleetscale doctor --member-context east=admin@east --member-context west=admin@west`

const (
	exitFaults    = 1
	exitUnchecked = 2
)

func newDoctorCommand(caller *plugin.Caller) *cobra.Command {
	var output plugin.Output
	var contexts []string
	s := doctor.Settings{Registrations: "fleetscale-clusters", Writers: "fleetscale-clusters-write"}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Find what is wrong, and how to repair it", Long: doctorHelp, Example: doctorExample, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := output.Validate(); err != nil {
				return err
			}
			if s.Contexts, err = memberContexts(contexts); err != nil {
				return err
			}
			if err := checkDoctor(&s); err != nil {
				return err
			}
			s.HubFlags = connection(cmd.Flags(), caller)
			hub, err := caller.Hub()
			if err != nil {
				return err
			}
			say, erase := progressLine(caller.ErrOut)
			picture, err := doctor.Gather(cmd.Context(), hub, s, caller.Context, say)
			erase()
			if err != nil {
				return err
			}
			report := doctor.Judge(picture)
			if err := report.Print(caller.Out, &output); err != nil {
				return err
			}
			switch {
			case report.Count(doctor.Failed) > 0:
				return &plugin.ExitError{Code: exitFaults}
			case !report.Whole():
				return &plugin.ExitError{Code: exitUnchecked}
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&contexts, "member-context", nil,
		"A member and the context of the kubeconfig that leads to it, as in east=admin@east. Can be given several times.")
	fs.StringSliceVar(&s.APIs, "apis", nil, "API groups that the metrics-adapter should serve, as its flag of this name says. "+
		"(default metrics.k8s.io, and of the others those that lead to it)")
	fs.StringSliceVar(&s.Scope, "namespaces", nil, "Namespaces in which the programs act, as their flag of this name says. (default all)")
	fs.StringVar(&s.Registrations, "cluster-namespace", s.Registrations,
		"Namespace of the Secrets that register members, as the programs' flag of this name says.")
	fs.StringVar(&s.Writers, "write-namespace", s.Writers,
		"Namespace of the credentials that write in members, as the controller-manager's flag of this name says.")
	output.AddFlag(cmd)
	completeAPIs(cmd)
	return cmd
}

// elsewhere are flags of kubectl that do not say which cluster is asked, or as whom. Commands name a namespace themselves.
var elsewhere = []string{"cache-dir", "disable-compression", "namespace", "request-timeout"}

// connection are the flags by which the person leads to the hub. They are printed, and so a token is not among them.
func connection(given *pflag.FlagSet, caller *plugin.Caller) (flags []doctor.Flag) {
	kubectls := pflag.NewFlagSet("", pflag.ContinueOnError)
	caller.AddFlags(kubectls)
	given.Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		several, isList := f.Value.(pflag.SliceValue)
		switch {
		case kubectls.Lookup(f.Name) == nil, slices.Contains(elsewhere, f.Name), text == "":
		case isList:
			for _, one := range several.GetSlice() {
				flags = append(flags, doctor.Flag{Name: f.Name, Value: one})
			}
		case f.Name == "token":
			flags = append(flags, doctor.Flag{Name: f.Name, Value: "TOKEN"})
		case f.Value.Type() == "bool":
			flags = append(flags, doctor.Flag{Name: f.Name + "=" + text})
		default:
			flags = append(flags, doctor.Flag{Name: f.Name, Value: text})
		}
	})
	return flags
}

func checkDoctor(s *doctor.Settings) error {
	if len(s.APIs) > 0 {
		if err := apiservice.CheckGroups(s.APIs); err != nil {
			return fmt.Errorf("--apis: %w", err)
		}
	}
	if _, err := tenancy.NewScope(s.Scope); err != nil {
		return fmt.Errorf("--namespaces: %w", err)
	}
	return nil
}

// memberContexts are the contexts of members by their names.
func memberContexts(given []string) (map[string]string, error) {
	contexts := map[string]string{}
	for _, text := range given {
		cluster, context, found := strings.Cut(text, "=")
		switch {
		case !found || context == "" || len(validation.IsDNS1123Label(cluster)) > 0:
			return nil, fmt.Errorf("--member-context: must be MEMBER=CONTEXT, as in east=admin@east, got %q", text)
		case contexts[cluster] != "":
			return nil, fmt.Errorf("--member-context: %s is given twice", cluster)
		}
		contexts[cluster] = context
	}
	return contexts, nil
}

// progressLine shows on a terminal what is under way, in one line, which erase removes.
func progressLine(w io.Writer) (say func(string), erase func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func(string) {}, func() {}
	}
	return func(what string) { fmt.Fprintf(w, "\r\033[K%s ...", what) }, func() { fmt.Fprint(w, "\r\033[K") }
}
