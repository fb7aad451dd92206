// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin/pages"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// View is what a page shows of a replay.
type View struct {
	Title string `json:"title"`
	// Notes are what is said of all of it; Set is what was another.
	Notes []string `json:"notes"`
	Set   []string `json:"set,omitempty"`
	// Rows are what it comes to, beside each other.
	Rows []Row `json:"rows"`
	// Changed: there are two sides.
	Changed bool `json:"changed"`
	// Bound is that of the use, in percent of what Of says.
	Bound int64  `json:"bound"`
	Of    string `json:"of"`
	// Unknown say for how long the load is not known, and why.
	Unknown []string `json:"unknown,omitempty"`
	// At are times in milliseconds since 1970, and the others what there was or would be from then on.
	At       []int64 `json:"at"`
	Was      Lines   `json:"was"`
	Would    Lines   `json:"would"`
	Spans    []Part  `json:"spans,omitempty"`
	Assuming string  `json:"assuming,omitempty"`
}

// Row is one line of a table.
type Row struct {
	Name  string `json:"name"`
	Was   string `json:"was"`
	Would string `json:"would"`
}

// Lines are those of one side; the use is null where it is not known.
type Lines struct {
	Replicas []int32  `json:"replicas"`
	Max      []int32  `json:"max"`
	Asked    []int32  `json:"asked"`
	Use      []*int64 `json:"use"`
}

// Part is a part of the time in which the load is not known.
type Part struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Why  string `json:"why"`
}

// mostDrawn is how many points a page has: more than it has columns.
const mostDrawn = 1500

const assumption = "The load is what it was, and spread evenly over the Pods that there would be, which are Ready at once."

func (r *report) view(set []string) *View {
	v := &View{
		Title: "FederatedHPA " + r.Namespace + "/" + r.Name, Notes: r.notes(), Set: set, Rows: r.table(), Changed: r.Changed,
		Bound: r.Above, Of: r.of(), Unknown: r.unknowns(),
	}
	if r.Changed {
		v.Assuming = assumption
	}
	points := replay.Thin(r.Points, mostDrawn)
	for i := range points {
		p := &points[i]
		v.At = append(v.At, p.At.UnixMilli())
		v.Was.add(&p.Was)
		v.Would.add(&p.Would)
	}
	for _, s := range replay.Spans(points) {
		v.Spans = append(v.Spans, Part{s.From.UnixMilli(), s.To.UnixMilli(), string(s.Unknown) + ": " + because(s.Unknown)})
	}
	return v
}

func (l *Lines) add(s *replay.Side) {
	l.Replicas, l.Max = append(l.Replicas, s.Replicas), append(l.Max, s.Max)
	l.Asked, l.Use = append(l.Asked, s.Asked), append(l.Use, s.Use)
}

// table has the rows as they are printed.
func (r *report) table() (all []Row) {
	r.rows(func(name string, was, would any) {
		all = append(all, Row{name, fmt.Sprint(was), fmt.Sprint(would)})
	})
	return all
}

// notes are the first lines of the text.
func (r *report) notes() []string {
	all := []string{fmt.Sprintf("%d decisions from %s to %s", r.Decisions, clock(r.From), clock(r.To))}
	if r.Differences == 0 {
		all = append(all, "made again by the same spec, all are as they were")
	} else {
		all = append(all, fmt.Sprintf("made again by the same spec, %d are NOT as they were: they were made by another version", r.Differences))
	}
	if r.Torn {
		all = append(all, "the end of the record is torn off, or damaged: what follows is of what is before")
	}
	return all
}

// of says what the use is of.
func (r *report) of() string {
	if r.OfRequests {
		return "of the requests"
	}
	return "of the target"
}

// unknowns say for how long the load is not known, and so what would have been.
func (r *report) unknowns() []string { return unknownsOf(r.Unknown) }

func unknownsOf(all map[replay.Unknown]float64) (lines []string) {
	for _, reason := range replay.Reasons {
		if lasts := all[reason]; lasts > 0 {
			lines = append(lines, fmt.Sprintf("load not known for %s: %s", lasting(time.Duration(lasts*float64(time.Second))), because(reason)))
		}
	}
	return lines
}

// page is a file for a browser.
func page(title string, shown any, pictures []chart.Plot, text string) (string, error) {
	file, err := pages.Page{
		Of: "replay", Data: shown, Title: title, Picture: chart.Column(pictures...), Text: fleet.PrintableLines(text),
	}.OneFile()
	return string(file), err
}

// sweepView is what a page shows of several targets.
type sweepView struct {
	Title string   `json:"title"`
	Notes []string `json:"notes"`
	// Head and Rows are the table that is printed.
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
	Unknown []string   `json:"unknown,omitempty"`
	// Advice is what they lead to, or why to nothing.
	Advice   string `json:"advice"`
	Assuming string `json:"assuming"`
}

func (r *sweepReport) view() *sweepView {
	return &sweepView{
		Title: "FederatedHPA " + r.Namespace + "/" + r.Name, Notes: []string{r.subject()}, Head: r.head(), Rows: r.table(),
		Unknown: unknownsOf(r.Unknown), Advice: strings.TrimSpace(r.advised()), Assuming: assumption,
	}
}
