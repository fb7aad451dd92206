// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	At    []int64 `json:"at"`
	Was   Lines   `json:"was"`
	Would Lines   `json:"would"`
	// Sizes are there instead of the others where the decisions are on sizes.
	Sizes []SizeLines `json:"sizes,omitempty"`
	// Clusters are those of the decisions, if there are any: with the most Pods first, and no more than [mostClusters]. Estimated: what
	// they would run is.
	Clusters  []ClusterLines `json:"clusters,omitempty"`
	Estimated bool           `json:"estimated,omitempty"`
	Spans     []Part         `json:"spans,omitempty"`
	Assuming  string         `json:"assuming,omitempty"`
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

// SizeLines are what all Pods request together, by both sides and in fact.
type SizeLines struct {
	Name   string    `json:"name"`
	Was    []float64 `json:"was"`
	Would  []float64 `json:"would"`
	InFact []float64 `json:"inFact"`
}

// ClusterLines are those of one cluster: what it ran and would run, its bounds on both sides, if it has its own, and when its load is not
// known. Null: it had no part.
type ClusterLines struct {
	Name  string      `json:"name"`
	Was   BoundsLines `json:"was"`
	Would BoundsLines `json:"would"`
	Spans []Part      `json:"spans,omitempty"`
}

// BoundsLines are those of one side of a cluster.
type BoundsLines struct {
	Replicas []*float64 `json:"replicas"`
	Min      []*int32   `json:"min,omitempty"`
	Max      []*int32   `json:"max,omitempty"`
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

const assumptionOfShares = " The replicas are divided as they were: what a cluster would run, and use, is an estimate, by its share of " +
	"those that were recorded."

// assuming is what the other side is made of.
func (r *report) assuming() string {
	if r.InFact != nil {
		return assumptionOfSizes
	}
	if r.splits {
		return "The load of each cluster is what it was, and stays there. " +
			"Its autoscaler runs what that takes, at once, as far as its bounds let it."
	}
	if r.ClustersEstimated {
		return assumption + assumptionOfShares
	}
	return assumption
}

func (r *report) view(set []string) *View {
	v := &View{
		Title: r.title(), Notes: r.notes(), Set: set, Rows: r.table(), Changed: r.Changed,
		Bound: r.Above, Of: r.of(), Unknown: r.unknowns(), Estimated: r.Changed && r.ClustersEstimated,
	}
	if r.Changed {
		v.Assuming = r.assuming()
	}
	points := replay.Thin(r.Points, mostDrawn)
	for i := range points {
		p := &points[i]
		v.At = append(v.At, p.At.UnixMilli())
		v.Was.add(&p.Was)
		v.Would.add(&p.Would)
	}
	v.Spans, v.Clusters = partsOf(replay.Spans(points), r.because), clusterLines(r, points)
	if r.InFact != nil {
		v.Was, v.Would, v.Sizes = Lines{}, Lines{}, r.sizeLines(points)
	}
	return v
}

func partsOf(spans []replay.Span, because func(replay.Unknown) string) (all []Part) {
	for _, s := range spans {
		all = append(all, Part{s.From.UnixMilli(), s.To.UnixMilli(), string(s.Unknown) + ": " + because(s.Unknown)})
	}
	return all
}

// mostClusters is how many clusters have curves of their own.
const mostClusters = 8

// clusterLines are those of the clusters with the most Pod-hours.
func clusterLines(r *report, points []replay.Point) (all []ClusterLines) {
	for _, c := range byPodHours(r.Clusters) {
		if len(all) == mostClusters {
			break
		}
		lines, own := ClusterLines{Name: c.Name}, slices.Clone(points)
		for i := range points {
			p := &points[i]
			if !r.ClustersEstimated { // a share of what is not known of the fleet is not, either
				own[i].Unknown = ""
			}
			was, would := (*replay.ClusterSide)(nil), (*replay.ClusterSide)(nil)
			if at, found := slices.BinarySearchFunc(p.Clusters, c.Name, byName); found {
				was, would = &p.Clusters[at].Was, &p.Clusters[at].Would
				own[i].Unknown = cmp.Or(was.Unknown, would.Unknown, own[i].Unknown)
			}
			lines.Was.add(was, r.splits)
			lines.Would.add(would, r.splits)
		}
		lines.Spans = partsOf(replay.Spans(own), r.because)
		all = append(all, lines)
	}
	return all
}

func byName(c replay.ClusterPoint, name string) int { return strings.Compare(c.Name, name) }

func (l *BoundsLines) add(s *replay.ClusterSide, bounds bool) {
	var replicas *float64
	var low, high *int32
	if s != nil {
		replicas, low, high = &s.Replicas, &s.Min, &s.Max
	}
	if l.Replicas = append(l.Replicas, replicas); bounds {
		l.Min, l.Max = append(l.Min, low), append(l.Max, high)
	}
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
		all = append(all, fmt.Sprintf("made again by the same spec, %d are NOT as they were: they were made by another version, or the record "+
			"is from a Prometheus, which does not tell all of the past", r.Differences))
	}
	if r.Torn {
		all = append(all, "the end of the record is torn off, or damaged: what follows is of what is before")
	}
	if r.Skipped > 0 {
		all = append(all, fmt.Sprintf(
			"%d decisions are left out: they are of a kind that only a later version knows, or of clusters that cannot be", r.Skipped))
	}
	if r.Others > 0 {
		all = append(all, fmt.Sprintf("%d decisions are left out: they were made in the other mode, central or distributed", r.Others))
	}
	return append(all, r.sizeNotes()...)
}

// of says what the use is of.
func (r *report) of() string {
	if r.OfRequests {
		return "of the requests"
	}
	return "of the target"
}

// unknowns say for how long the load is not known, and so what would have been.
func (r *report) unknowns() []string { return unknownsOf(r.Unknown, r.because) }

func unknownsOf(all map[replay.Unknown]float64, because func(replay.Unknown) string) (lines []string) {
	for _, reason := range replay.Reasons {
		if lasts := all[reason]; lasts > 0 {
			lines = append(lines, fmt.Sprintf("load not known for %s: %s", lastingSeconds(lasts), because(reason)))
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
