// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dryRun is the flag --dry-run, as kubectl has it.
type dryRun struct {
	value  string
	values []string
}

// addFlag adds it with none and these values.
func (d *dryRun) addFlag(cmd *cobra.Command, values ...string) {
	d.values = append([]string{"none"}, values...)
	cmd.Flags().StringVar(&d.value, "dry-run", d.values[0], "Say what would be done, and do nothing: "+strings.Join(d.values, ", ")+
		". With server the hub judges it, without storing it.")
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(d.values, cobra.ShellCompDirectiveNoFileComp))
}

func (d *dryRun) validate() error {
	if !slices.Contains(d.values, d.value) {
		return fmt.Errorf("--dry-run: must be one of %s, got %q", strings.Join(d.values, ", "), d.value)
	}
	return nil
}

// server is the option of a request to the hub.
func (d *dryRun) server() []string {
	if d.value == "server" {
		return []string{metav1.DryRunAll}
	}
	return nil
}
