// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// Print writes the report in the format of the output: for people a table of all checks, and below it what was found.
func (r *Report) Print(w io.Writer, output *plugin.Output) error {
	if err := output.Print(w, r.table(), r); err != nil || output.Machine() {
		return err
	}
	_, err := fmt.Fprintln(w, strings.Join(slices.Concat(r.found(), r.unknown(), []string{"\n" + r.sums()}), "\n"))
	return err
}

func (r *Report) table() *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Group", Type: "string"}, {Name: "Check", Type: "string"}, {Name: "Result", Type: "string"},
		{Name: "About", Type: "string", Priority: 1},
	}}
	for i := range r.Checks {
		c := &r.Checks[i]
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{c.Group, c.Name, c.cell(), c.About}})
	}
	return table
}

// The marks of results.
const (
	markPassed  = "✓"
	markError   = "✗"
	markWarning = "!"
	markUnknown = "?"
	markSkipped = "-"
)

func (c *Check) cell() string {
	switch c.Result {
	case Failed:
		return markError + " " + fleet.Counted(c.count(Error), "error")
	case Warned:
		return markWarning + " " + fleet.Counted(c.count(Warning), "warning")
	case NotChecked:
		return markUnknown + " not checked"
	case Skipped:
		return markSkipped + " " + c.Skipped
	}
	return markPassed
}

func (c *Check) count(s Severity) int {
	n := 0
	for _, f := range c.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// mostTold bounds, in characters, what is repeated of others in one line.
const mostTold = 1024

// found are lines with what was found, each with its command.
func (r *Report) found() (lines []string) {
	for i := range r.Checks {
		for _, f := range r.Checks[i].Findings {
			mark := markError
			if f.Severity == Warning {
				mark = markWarning
			}
			lines = append(lines, fmt.Sprintf("\n%s %s: %s", mark, r.Checks[i].Name, f.sentence()), "    "+fleet.PrintableLine(f.Fix, mostTold))
		}
	}
	return lines
}

// unknown are lines with what could not be seen, each with the checks that needed it.
func (r *Report) unknown() (lines []string) {
	var order []string
	checks := map[string][]string{}
	for i := range r.Checks {
		for _, why := range r.Checks[i].NotChecked {
			if len(checks[why]) == 0 {
				order = append(order, why)
			}
			checks[why] = append(checks[why], r.Checks[i].Name)
		}
	}
	for i, why := range order {
		line := fmt.Sprintf("%s %s: not checked: %s", markUnknown, strings.Join(checks[why], ", "), fleet.PrintableLine(why, mostTold))
		if i == 0 {
			line = "\n" + line
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *Finding) sentence() string {
	var parts []string
	for _, part := range []string{f.Cluster, f.Object, f.What} {
		if part != "" {
			parts = append(parts, fleet.PrintableLine(part, mostTold))
		}
	}
	return strings.Join(parts, ": ")
}

// sums is one line about all checks.
func (r *Report) sums() string {
	text := fleet.Counted(len(r.Checks), "check") + ":"
	for _, of := range []struct {
		result Result
		words  string
	}{{Passed, "passed"}, {Failed, "failed"}, {Warned, "with warnings"}, {NotChecked, "not made, or not whole"},
		{Skipped, "skipped"}} {
		if n := r.Count(of.result); n > 0 {
			text += fmt.Sprintf(" %d %s,", n, of.words)
		}
	}
	return strings.TrimRight(text, ",")
}
