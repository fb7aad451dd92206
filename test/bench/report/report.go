// SPDX-License-Identifier: Apache-2.0

// Package report writes what was measured: a page of Markdown for each
// experiment, with its plots beside it and its figures as JSON, and a page that
// leads to all of them.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/chart"
)

// Section is one experiment.
type Section struct {
	// Name is short: that of its files.
	Name  string
	Title string
	// About is what a reader must know of all its figures: the machine, the versions, when.
	About []string
	// Text says what was done, and what the figures mean.
	Text    []string
	Reaches []Reach
	Tables  []Table
	Plots   []Plot
	// Figures are all that was measured, by name.
	Figures map[string][]float64
}

// Plot is a picture of figures.
type Plot struct {
	chart.Plot

	// Peers is that some lines are somebody else's, of the same rounds.
	Peers bool
}

// Reach is a figure that is to be reached.
type Reach struct {
	What, Goal, Measured string
	Met                  bool
	// Why is what stands in the way of one that is not met.
	Why string `json:",omitempty"`
}

// Table has cells as they are read. Each row is as long as the header.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Write makes the section's page, figures and plots in dir, which it creates. The samples are beside them, for other programs.
// Other files stay, so that experiments can be measured one by one.
func (s Section) Write(dir string) error {
	files := map[string]string{s.Name + ".md": s.markdown()}
	for suffix, content := range map[string]any{".json": s.kept(), ".samples.json": s.Figures} {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return fmt.Errorf("encoding the figures of %s: %w", s.Name, err)
		}
		files[s.Name+suffix] = string(text) + "\n"
	}
	for i, p := range s.Plots {
		files[s.picture(i)] = p.SVG()
	}
	for name, content := range files {
		if err := write(dir, name, content); err != nil {
			return err
		}
	}
	return nil
}

func write(dir, name, content string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// kept is what a later run needs of a section.
type kept struct {
	Title   string
	About   []string
	Reaches []Reach
	// Beside are the plots that show us beside peers.
	Beside []picture `json:",omitempty"`
}

type picture struct{ Title, File string }

func (s Section) kept() kept {
	k := kept{Title: s.Title, About: s.About, Reaches: s.Reaches}
	for i, p := range s.Plots {
		if p.Peers {
			k.Beside = append(k.Beside, picture{p.Title, s.picture(i)})
		}
	}
	return k
}

func (s Section) picture(i int) string { return fmt.Sprintf("%s-%d.svg", s.Name, i+1) }

func (s Section) markdown() string {
	var b strings.Builder
	begin(&b, s.Title, append(s.About, s.Text...))
	if len(s.Reaches) > 0 {
		reachTable(s.Reaches).markdown(&b)
	}
	for _, t := range s.Tables {
		t.markdown(&b)
	}
	for i, p := range s.Plots {
		fmt.Fprintf(&b, "![%s](%s)\n\n", p.Title, s.picture(i))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func begin(b *strings.Builder, title string, text []string) {
	fmt.Fprintf(b, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# %s\n\n", title)
	for _, line := range text {
		fmt.Fprintf(b, "%s\n\n", line)
	}
}

func reachTable(reaches []Reach) Table {
	t := Table{Header: []string{"to be reached", "goal", "measured", "reached"}}
	for _, r := range reaches {
		t.Rows = append(t.Rows, r.cells())
	}
	return t
}

func (r Reach) cells() []string {
	met := "yes"
	if !r.Met {
		met = strings.TrimSuffix("no: "+r.Why, ": ")
	}
	return []string{r.What, r.Goal, r.Measured, met}
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

// Index writes README.md in dir: the plots of all sections there that show peers, what the sections have reached, and
// the way to each. They stand in the order of names; one that is not there is left out.
func Index(dir string, about []string, names []string) error {
	var b strings.Builder
	begin(&b, "Figures", about)
	reached := Table{Header: append([]string{"experiment"}, reachTable(nil).Header...)}
	pages := Table{Header: []string{"experiment", "measured"}}
	var beside strings.Builder
	for _, name := range names {
		s, err := read(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		link := fmt.Sprintf("[%s](%s.md)", name, name)
		pages.Rows = append(pages.Rows, []string{link + ": " + s.Title, strings.Join(s.About, " ")})
		for _, p := range s.Beside {
			fmt.Fprintf(&beside, "[![%s](%s)](%s.md)\n\n", p.Title, p.File, name)
		}
		for _, r := range s.Reaches {
			reached.Rows = append(reached.Rows, append([]string{link}, r.cells()...))
		}
	}
	if beside.Len() > 0 {
		b.WriteString("## Beside peers\n\n" + beside.String() + "## All that is to be reached\n\n")
	}
	reached.markdown(&b)
	pages.markdown(&b)
	return write(dir, "README.md", strings.TrimRight(b.String(), "\n")+"\n")
}

func read(dir, name string) (k kept, err error) {
	data, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return k, fmt.Errorf("reading the figures of %s: %w", name, err)
	}
	return k, nil
}
