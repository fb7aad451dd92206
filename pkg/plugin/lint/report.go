// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Severity is whether the hub would refuse an object for a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the hub refuses the object
	Warning Severity = "warning" // it is stored, and may surprise
)

// Finding is one thing that the hub would say of an object.
type Finding struct {
	File      string   `json:"file"`
	Line      int      `json:"line"` // from 1; where the field is or, if it is missing, what should hold it
	Severity  Severity `json:"severity"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"` // as written; empty where the manifest has none
	Name      string   `json:"name"`
	Rule      string   `json:"rule,omitempty"` // stable name; warnings have none
	Field     string   `json:"field,omitempty"`
	Message   string   `json:"message"` // begins with the field, if there is one
}

// Unusable is a file, or a document in it, that could not be judged.
type Unusable struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0 if not known
	Message string `json:"message"`
}

// Report is what came of all files.
type Report struct {
	Findings []Finding  `json:"findings"`
	Unusable []Unusable `json:"unusable"`
	Files    int        `json:"files"`
	Objects  int        `json:"autoscalers"` // those that were judged
	Ignored  int        `json:"ignored"`     // documents of other kinds
}

// Refused reports whether the hub would refuse an object.
func (r *Report) Refused() bool { return r.count(Error) > 0 }

func (r *Report) count(s Severity) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Severity, b.Severity))
	})
	slices.SortStableFunc(r.Unusable, func(a, b Unusable) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
}

// Formats are the values of --output.
func Formats() []string { return []string{"text", "json", "sarif"} }

// Print writes the report in one of [Formats].
func (r *Report) Print(w io.Writer, format, version string) error {
	switch format {
	case "json":
		return encode(w, r)
	case "sarif":
		return encode(w, r.sarif(version))
	}
	return r.text(w)
}

func encode(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "    ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// text is one line for each finding, as compilers write them, and a sum.
func (r *Report) text(w io.Writer) error {
	for _, u := range r.Unusable {
		if _, err := fmt.Fprintf(w, "%s: unusable: %s\n", place(told(u.File), u.Line), told(u.Message)); err != nil {
			return err
		}
	}
	for _, f := range r.Findings {
		_, err := fmt.Fprintf(w, "%s: %s: %s: %s%s\n", place(told(f.File), f.Line), f.Severity, told(f.object()), told(f.Message), f.rule())
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s in %s: %s, %s; ignored %s of other kinds%s\n",
		fleet.Counted(r.Objects, "autoscaler"), fleet.Counted(r.Files, "file"), fleet.Counted(r.count(Error), "error"),
		fleet.Counted(r.count(Warning), "warning"), fleet.Counted(r.Ignored, "document"), r.unusable())
	return err
}

// mostTold bounds, in characters, what is repeated of a manifest or its path.
const mostTold = 4096

// told is what others wrote, in one line of ours.
func told(text string) string { return fleet.PrintableLine(text, mostTold) }

func (r *Report) unusable() string {
	if len(r.Unusable) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d could not be judged", len(r.Unusable))
}

func (f *Finding) object() string {
	if f.Namespace != "" {
		return fmt.Sprintf("%s %s/%s", f.Kind, f.Namespace, f.Name)
	}
	return fmt.Sprintf("%s %s", f.Kind, f.Name)
}

func (f *Finding) rule() string {
	if f.Rule == "" {
		return ""
	}
	return " [" + f.Rule + "]"
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
