// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fleetscale/fleetscale/pkg/chart"
)

// sheet is a table with what is said about it, for a text and a page: of several targets.
type sheet struct {
	Title string `json:"title"`
	// Caption is that of the table; empty: it is of targets.
	Caption string   `json:"caption,omitempty"`
	Notes   []string `json:"notes"`
	// Head and Rows are the table.
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
	Unknown []string   `json:"unknown,omitempty"`
	// Advice is what it leads to, or why to nothing.
	Advice   string `json:"advice"`
	Assuming string `json:"assuming"`
}

func (s *sheet) text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s, %s\n\n", s.Title, strings.Join(s.Notes, "\n"))
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{s.Head}, s.Rows...) {
		_, _ = fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	_ = t.Flush()
	for _, line := range s.Unknown {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n" + s.Advice + "\n")
	return b.String()
}

// writeSheet prints what was tried: for programs as the report.
func (o *Options) writeSheet(w io.Writer, report any, s *sheet, pictures func() []chart.Plot) error {
	return o.write(w, report, s.text, pictures, func() any { return map[string]any{"sweep": s} })
}
