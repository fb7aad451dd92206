// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetscale/fleetscale/pkg/replay"
)

func (r *report) text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d decisions from %s to %s\n", r.Namespace, r.Name, r.Decisions, clock(r.From), clock(r.To))
	switch r.Differences {
	case 0:
		b.WriteString("made again by the same spec, all are as they were\n")
	default:
		fmt.Fprintf(b, "made again by the same spec, %d are NOT as they were: they were made by another version\n", r.Differences)
	}
	if r.Torn {
		b.WriteString("the end of the record is torn off, or damaged: what follows is of what is before\n")
	}
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	head, row := "\n\tAS IT WAS\n", func(name string, was, would any) { _, _ = fmt.Fprintf(t, "%s\t%v\n", name, was) }
	if r.Changed {
		head = "\n\tAS IT WAS\tAS IT WOULD BE\n"
		row = func(name string, was, would any) { _, _ = fmt.Fprintf(t, "%s\t%v\t%v\n", name, was, would) }
	}
	_, _ = fmt.Fprint(t, head)
	r.rows(row)
	_ = t.Flush()
	r.unknowns(b)
	b.WriteString("\n" + r.plots())
	if r.Changed {
		b.WriteString("\nThe load is what it was, and spread evenly over the Pods that there would be, which are Ready at once.\n")
	}
	return b.String()
}

func (r *report) rows(row func(name string, was, would any)) {
	was, would := &r.Was, &r.Would
	of := "of the target"
	if r.OfRequests {
		of = "of the requests"
	}
	row("Pod-hours", fmt.Sprintf("%.1f", was.PodHours), fmt.Sprintf("%.1f%s", would.PodHours, change(was.PodHours, would.PodHours)))
	row("replicas", fmt.Sprintf("%d to %d", was.Least, was.Most), fmt.Sprintf("%d to %d", would.Least, would.Most))
	row("changes of the replicas", was.Ups+was.Downs, would.Ups+would.Downs)
	row(fmt.Sprintf("above %d %% %s", r.Above, of), lasting(was.Above), lasting(would.Above))
	row("at maxReplicas", lasting(was.AtMax), lasting(would.AtMax))
	row("held, as clusters could not be seen", lasting(was.Held), lasting(would.Held))
}

// unknowns say where the load is not known, and so what would have been.
func (r *report) unknowns(b *strings.Builder) {
	for _, reason := range []replay.Unknown{replay.CutOff, replay.Unseen, replay.Unusable, replay.NotTold} {
		if seconds := r.Unknown[reason]; seconds > 0 {
			fmt.Fprintf(b, "load not known for %s: %s\n", lasting(time.Duration(seconds*float64(time.Second))), because(reason))
		}
	}
}

func because(reason replay.Unknown) string {
	switch reason {
	case replay.CutOff:
		return "the Pods used all that they may, and may have been asked for more (--cut-off)"
	case replay.Unseen:
		return "clusters could not be seen"
	case replay.Unusable:
		return "no metric could be used"
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
