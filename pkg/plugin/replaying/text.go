// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

func (r *report) text() string {
	b := &strings.Builder{}
	notes := r.notes()
	fmt.Fprintf(b, "%s: %s\n", r.title(), strings.Join(notes, "\n"))
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	head, row := "\n\tAS IT WAS\n", func(name string, was, would any) { _, _ = fmt.Fprintf(t, "%s\t%v\n", name, was) }
	if r.Changed {
		head = "\n\tAS IT WAS\tAS IT WOULD BE\n"
		row = func(name string, was, would any) { _, _ = fmt.Fprintf(t, "%s\t%v\t%v\n", name, was, would) }
	}
	_, _ = fmt.Fprint(t, head)
	r.rows(row)
	_ = t.Flush()
	for _, line := range r.unknowns() {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n" + r.plots())
	if r.Changed {
		b.WriteString("\n" + r.assuming() + "\n")
	}
	return b.String()
}

func (r *report) rows(row func(name string, was, would any)) {
	if r.InFact != nil {
		r.sizeRows(row)
		return
	}
	was, would := &r.Was, &r.Would
	row("Pod-hours", fmt.Sprintf("%.1f", was.PodHours), fmt.Sprintf("%.1f%s", would.PodHours, change(was.PodHours, would.PodHours)))
	row("replicas", fmt.Sprintf("%d to %d", was.Least, was.Most), fmt.Sprintf("%d to %d", would.Least, would.Most))
	row("changes of the replicas", was.Ups+was.Downs, would.Ups+would.Downs)
	row(fmt.Sprintf("above %d %% %s", r.Above, r.of()), lasting(was.Above), lasting(would.Above))
	atMax := "at maxReplicas"
	if r.splits {
		atMax = "a cluster at its maximum"
	}
	row(atMax, lasting(was.AtMax), lasting(would.AtMax))
	row("held, as clusters could not be seen", lasting(was.Held), lasting(would.Held))
	r.clusterRows(row)
}

// mostRows is how many clusters have rows of their own.
const mostRows = 20

// mostName is how long the name of a cluster is printed.
const mostName = 63

// clusterRows are of the clusters with the most Pod-hours, and then of the others together.
func (r *report) clusterRows(row func(name string, was, would any)) {
	all := byPodHours(r.Clusters)
	shown, others := all[:min(len(all), mostRows)], all[min(len(all), mostRows):]
	slices.SortFunc(shown, func(a, b clusterSums) int { return strings.Compare(a.Name, b.Name) })
	for i := range shown {
		r.rowsOf(&shown[i], row)
	}
	if len(others) > 0 {
		row(fmt.Sprintf("in %d other clusters: Pod-hours", len(others)), podHours(others, was), r.about()+podHours(others, would))
	}
}

// byPodHours are those with the most Pod-hours first.
func byPodHours(all []clusterSums) []clusterSums {
	return slices.SortedStableFunc(slices.Values(all), func(a, b clusterSums) int {
		return cmp.Compare(max(b.Was.PodHours, b.Would.PodHours), max(a.Was.PodHours, a.Would.PodHours))
	})
}

func was(c *clusterSums) *clusterSum   { return &c.Was }
func would(c *clusterSums) *clusterSum { return &c.Would }

func podHours(all []clusterSums, of func(*clusterSums) *clusterSum) string {
	sum := 0.0
	for i := range all {
		sum += of(&all[i]).PodHours
	}
	return fmt.Sprintf("%.1f", sum)
}

func (r *report) rowsOf(c *clusterSums, row func(name string, was, would any)) {
	was, would, name := &c.Was, &c.Would, "in "+fleet.Printable(c.Name, mostName)
	if r.splits {
		row(name+": bounds, mean", was.bounds(), would.bounds())
		row(name+": changes of the bounds", was.BoundChanges, would.BoundChanges)
	}
	row(name+": Pod-hours", fmt.Sprintf("%.1f", was.PodHours),
		fmt.Sprintf("%s%.1f%s", r.about(), would.PodHours, change(was.PodHours, would.PodHours)))
	row(name+": changes of the replicas", was.changes(), would.changes())
	lasts := func(what, about string, was, would float64) {
		if was+would > 0 {
			row(name+": "+what, lastingSeconds(was), about+lastingSeconds(would))
		}
	}
	lasts(fmt.Sprintf("above %d %% %s", r.Above, r.of()), r.about(), was.AboveSeconds, would.AboveSeconds)
	if r.splits {
		lasts("at its maximum", "", was.AtMaxSeconds, would.AtMaxSeconds)
	}
	lasts("load not known for", "", was.UnknownSeconds, would.UnknownSeconds)
}

// about marks what is an estimate.
func (r *report) about() string {
	if r.ClustersEstimated {
		return "about "
	}
	return ""
}

func (s *clusterSum) changes() string {
	if s.Changes == nil {
		return "not known"
	}
	return strconv.Itoa(*s.Changes)
}

func (s *clusterSum) bounds() string { return fmt.Sprintf("%.1f to %.1f", s.MeanMin, s.MeanMax) }

func lastingSeconds(s float64) string { return lasting(time.Duration(s * float64(time.Second))) }

func (r *report) because(reason replay.Unknown) string {
	if r.InFact != nil {
		return becauseOfSizes(reason)
	}
	return because(reason)
}

func becauseOfSizes(reason replay.Unknown) string {
	return cmp.Or(sizesBecause[reason], because(reason))
}

func because(reason replay.Unknown) string {
	switch reason {
	case replay.Capacity:
		return "what clusters can host was not asked, and is taken to be what they run"
	case replay.Elsewhere:
		return "clusters would run the workload that did not, or the other way round: where the load would arrive is not known"
	case replay.CutOff:
		return "the Pods used all that they may, and may have been asked for more (--cut-off)"
	case replay.Unseen:
		return "clusters could not be seen"
	case replay.Unusable:
		return "no metric could be used"
	case replay.NotRecorded:
		return "no decision was recorded; that time counts on neither side"
	default:
		return "what was recorded does not tell what the other spec would ask for; the replicas are taken to stay"
	}
}

// change is by how much one number is more than another.
func change(was, would float64) string {
	if was == 0 || math.Round(100*(would-was)/was) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f %%)", 100*(would-was)/was)
}

func lasting(d time.Duration) string {
	if d >= time.Hour {
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	if d >= time.Minute {
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
