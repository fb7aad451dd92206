// SPDX-License-Identifier: Apache-2.0

// Package report writes what was measured: a page of Markdown with plots beside it, and the figures as JSON.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Report is one run of the benchmarks.
type Report struct {
	Title string
	// About is what a reader must know of all figures: the machine, the versions, when.
	About    []string
	Sections []Section
}

// Section is one experiment.
type Section struct {
	// Name is short: a part of file names.
	Name  string
	Title string
	// Text says what was done, and what the figures mean.
	Text   []string
	Tables []Table
	Plots  []Plot
	// Figures are all that was measured, by name.
	Figures map[string][]float64
}

// Table has cells as they are read. Each row is as long as the header.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Write makes README.md, figures.json and a picture for each plot in dir, which it creates. Other files stay.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	files, err := r.files()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

func (r Report) files() (map[string][]byte, error) {
	figures := map[string]map[string][]float64{}
	files := map[string][]byte{"README.md": []byte(r.markdown())}
	for _, s := range r.Sections {
		figures[s.Name] = s.Figures
		for i, p := range s.Plots {
			files[s.picture(i)] = []byte(p.svg())
		}
	}
	data, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the figures: %w", err)
	}
	files["figures.json"] = append(data, '\n')
	return files, nil
}

func (s Section) picture(i int) string { return fmt.Sprintf("%s-%d.svg", s.Name, i+1) }

func (r Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# %s\n\n", r.Title)
	for _, line := range r.About {
		fmt.Fprintf(&b, "%s\n\n", line)
	}
	for _, s := range r.Sections {
		s.markdown(&b)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (s Section) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", s.Title)
	for _, line := range s.Text {
		fmt.Fprintf(b, "%s\n\n", line)
	}
	for _, t := range s.Tables {
		t.markdown(b)
	}
	for i, p := range s.Plots {
		fmt.Fprintf(b, "![%s](%s)\n\n", p.Title, s.picture(i))
	}
}

func (t Table) markdown(b *strings.Builder) {
	if t.Title != "" {
		fmt.Fprintf(b, "**%s**\n\n", t.Title)
	}
	row(b, t.Header)
	fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", len(t.Header)))
	for _, cells := range t.Rows {
		row(b, cells)
	}
	b.WriteByte('\n')
}

func row(b *strings.Builder, cells []string) {
	for _, cell := range cells {
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
	}
	b.WriteString("|\n")
}
