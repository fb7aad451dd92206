// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// Formats are the values of --output.
var formats = []string{"table", "wide", "json", "yaml"}

// Output is in which format a command prints.
type Output struct{ format string }

// AddFlag adds --output to a command.
func (o *Output) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", formats[0], "Output format: "+strings.Join(formats, ", ")+".")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// Validate returns an error for a format that is none.
func (o *Output) Validate() error {
	if !slices.Contains(formats, o.format) {
		return fmt.Errorf("--output: there is no format %q; give one of %s", o.format, strings.Join(formats, ", "))
	}
	return nil
}

// ForPeople is true for the formats that no program reads.
func (o *Output) ForPeople() bool { return o.format != "json" && o.format != "yaml" }

// Print writes the table for people, columns of a priority above 0 only as wide; or
// the value, for programs.
func (o *Output) Print(w io.Writer, table *metav1.Table, value any) error {
	switch o.format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "    ")
		return encoder.Encode(value)
	case "yaml":
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: o.format == "wide"}).PrintObj(table, w)
}
