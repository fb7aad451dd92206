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
	notes := r.notes()
	fmt.Fprintf(b, "FederatedHPA %s/%s: %s\n", r.Namespace, r.Name, strings.Join(notes, "\n"))
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
		b.WriteString("\n" + assumption + "\n")
	}
	return b.String()
}

func (r *report) rows(row func(name string, was, would any)) {
	was, would := &r.Was, &r.Would
	row("Pod-hours", fmt.Sprintf("%.1f", was.PodHours), fmt.Sprintf("%.1f%s", would.PodHours, change(was.PodHours, would.PodHours)))
	row("replicas", fmt.Sprintf("%d to %d", was.Least, was.Most), fmt.Sprintf("%d to %d", would.Least, would.Most))
	row("changes of the replicas", was.Ups+was.Downs, would.Ups+would.Downs)
	row(fmt.Sprintf("above %d %% %s", r.Above, r.of()), lasting(was.Above), lasting(would.Above))
	row("at maxReplicas", lasting(was.AtMax), lasting(would.AtMax))
	row("held, as clusters could not be seen", lasting(was.Held), lasting(would.Held))
}

func because(reason replay.Unknown) string {
	switch reason {
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
