// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// tell returns what a step does, and how the fleet is then; or that nothing happens, and nothing is other than it was told last.
func (s *tale) tell(step Step) string {
	head := cmp.Or(string(step.Action), "-")
	if remarks := remarks(step); len(remarks) > 0 {
		head += " (" + strings.Join(remarks, ", ") + ")"
	}
	if s.asTold(step, true) && (step.Action == "" || head == s.head) {
		return "nothing"
	}
	s.head, s.bounds, s.shown = head, s.table(step, false, false), s.table(step, true, false)
	return s.now.Format(time.TimeOnly) + "  " + head + "\n" + s.table(step, true, true)
}

// asTold: the clusters are as they were told last; what they run counts or not.
func (s *tale) asTold(step Step, running bool) bool {
	return s.table(step, false, false) == s.bounds && (!running || s.table(step, true, false) == s.shown)
}

// remarks returns what is remembered and said of the fleet.
func remarks(step Step) (remarks []string) {
	for _, one := range []struct {
		what  string
		since *metav1.Time
	}{
		{"load low since", step.Memory.UnderloadedSince},
		{"woken at", step.Memory.LastScaleFromZeroTime},
		{"moved at", step.Memory.LastRebalanceTime},
	} {
		if one.since != nil {
			remarks = append(remarks, one.what+" "+one.since.Format(time.TimeOnly))
		}
	}
	if n := ptr.Deref(step.Memory.UnreachableMax, 0); n > 0 {
		remarks = append(remarks, fmt.Sprint(n, " beyond the maximum"))
	}
	if n := step.Unassigned; n > 0 {
		remarks = append(remarks, fmt.Sprint(n, " for nobody"))
	}
	for _, one := range []struct {
		what string
		is   bool
	}{
		{"all saturated", step.AllSaturated},
		{"no weights", step.Unweighted},
		{"to be split again", step.Incomplete},
		{"what runs is kept", step.Memory.KeepsRunning},
	} {
		if one.is {
			remarks = append(remarks, one.what)
		}
	}
	return remarks
}

// table returns what there is to say of each cluster, with what it runs and what it is told to run, or without.
func (s *tale) table(step Step, running, told bool) string {
	text := &strings.Builder{}
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	for _, w := range s.members {
		to := step.Sites[w.Name]
		row := []string{w.Name, fmt.Sprintf("%d%s/%d", to.Min, map[bool]string{true: "*"}[to.Bumped], to.Max)}
		if running {
			row = append(row, "runs "+replicas(w))
		}
		if !told {
			to.Scale = nil
		}
		fmt.Fprintln(table, strings.Join(append(row, state(to), strings.Join(orders(to), ", ")), "\t"))
	}
	table.Flush()
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}

func replicas(w *town) string {
	if waiting := w.Current - w.scheduled(); waiting > 0 {
		return fmt.Sprintf("%d, %d wait", w.Current, waiting)
	}
	return fmt.Sprint(w.Current)
}

func state(to SiteStep) string {
	if to.SchedulableSince != nil {
		return string(to.State) + ", room since " + to.SchedulableSince.Format(time.TimeOnly)
	}
	return string(to.State)
}

// orders returns what a cluster is told beside its bounds.
func orders(to SiteStep) (orders []string) {
	if to.Scale != nil {
		orders = append(orders, fmt.Sprint("run ", *to.Scale))
	}
	if to.Hold {
		orders = append(orders, "hold")
	}
	if to.Window > 0 {
		orders = append(orders, "wait "+to.Window.String())
	}
	if to.Share > 0 {
		orders = append(orders, fmt.Sprint("would get ", to.Share))
	}
	return orders
}
