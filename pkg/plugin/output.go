// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// AddFormat adds --output to a command that prints in these formats, of which the first is the default.
func AddFormat(cmd *cobra.Command, format *string, formats ...string) {
	cmd.Flags().StringVarP(format, "output", "o", formats[0], "Output format: "+strings.Join(formats, ", ")+".")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// ValidateFormat returns an error for a format that is none of them.
func ValidateFormat(format string, formats ...string) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("--output: there is no format %q; give one of %s", format, strings.Join(formats, ", "))
	}
	return nil
}

// Encode writes a value for programs: as yaml if that is the format, and else as JSON.
func Encode(w io.Writer, format string, value any) error {
	if format == "yaml" {
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "    ")
	return encoder.Encode(value)
}

// tables are the formats of what is a table.
var tables = []string{"table", "wide", "json", "yaml"}

// Output is in which format a command prints a table.
type Output struct{ format string }

// AddFlag adds --output to a command.
func (o *Output) AddFlag(cmd *cobra.Command) { AddFormat(cmd, &o.format, tables...) }

// Validate returns an error for a format that is none.
func (o *Output) Validate() error { return ValidateFormat(o.format, tables...) }

// Machine reports whether the format is for programs.
func (o *Output) Machine() bool { return o.format == "json" || o.format == "yaml" }

// Print writes the table for people, columns of a priority above 0 only as wide; or
// the value, for programs.
func (o *Output) Print(w io.Writer, table *metav1.Table, value any) error {
	if o.Machine() {
		return Encode(w, o.format, value)
	}
	return PrintTable(w, table, o.format == "wide")
}

// PrintTable writes a table for people. Its cells are what tenants and members chose, so nothing but text is left of them.
func PrintTable(w io.Writer, table *metav1.Table, wide bool) error {
	var text bytes.Buffer // whole, as the printer may write parts of characters
	if err := printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(table, &text); err != nil {
		return err
	}
	_, err := printable{w}.Write(text.Bytes())
	return err
}

// printable writes to a terminal what is whole lines, and of them what is text.
type printable struct{ to io.Writer }

func (p printable) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.to, fleet.PrintableLines(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
