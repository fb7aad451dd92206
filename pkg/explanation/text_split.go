// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"fmt"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// split prints where the bounds of clusters come from.
func (t *page) split(s *v1alpha1.SplitExplanation) {
	whole := s.Policy == string(assignment.Duplicated)
	if !whole {
		t.calculation("budget", fmt.Sprintf("max(%d - %d, %d, 0)", s.Max, s.KeptMax, s.Floor), s.Budget, budgetNote(s))
	}
	var least, most terms
	for i := range s.Clusters {
		c := &s.Clusters[i]
		t.note(fleet.PrintableLine(clusterLine(s.Policy, c), mostTold))
		t.bound("max", c.MaxTerms, c.Max)
		t.bound("min", c.MinTerms, c.Min)
		if c.Part == "" {
			least, most = append(least, int64(c.Min)), append(most, int64(c.Max))
		}
	}
	if o := s.Others; o != nil {
		t.note(fmt.Sprintf("%d others: min %d, max %d, runs %d, all together", o.Clusters, o.Min+o.KeptMin, o.Max+o.KeptMax, o.Runs))
		least, most = append(least, o.Min), append(most, o.Max)
	}
	t.note("all clusters that can be told")
	t.sum("all max", most, "")
	t.sum("all min", least, minNote(s))
	if !whole {
		t.calculation("unassigned", fmt.Sprintf("max(0, %d - %d)", s.Budget, most.sum()), max(0, s.Budget-most.sum()),
			"what thresholds leave to nobody")
	}
}

func budgetNote(s *v1alpha1.SplitExplanation) string {
	switch {
	case s.KeptMax == 0:
		return "maxReplicas, which is split"
	case s.Budget == s.Floor:
		return "the others keep so much all the same, whatever clusters keep that are away"
	}
	return fmt.Sprintf("maxReplicas, less the %d that clusters keep which are away", s.KeptMax)
}

func minNote(s *v1alpha1.SplitExplanation) string {
	note := fmt.Sprintf("minReplicas is %d", s.Min)
	if s.KeptMin > 0 {
		note += fmt.Sprintf(", of which %d stay with clusters that are away", s.KeptMin)
	}
	return note
}

// clusterLine is what a cluster is given its bounds by.
func clusterLine(policy string, c *v1alpha1.ClusterSplit) string {
	words := []string{fmt.Sprintf("min %d, max %d", c.Min, c.Max), fmt.Sprintf("runs %d, %d Ready", c.Runs, c.Ready)}
	say := func(is bool, format string, values ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, values...))
		}
	}
	say(policy == string(assignment.StaticWeighted), "weight %d", c.Weight)
	say(policy == string(assignment.Prioritized), "priority %d", c.Priority)
	say(c.Waiting > 0, "%d find no node", c.Waiting)
	if c.Hosts != nil {
		say(true, "can host %d", *c.Hosts)
	}
	say(c.Floor > 0, "at least %d come first", c.Floor)
	if c.Ceiling != nil {
		say(true, "at most %d", *c.Ceiling)
	}
	if c.Load != nil {
		say(true, "load %d.%d %% of target", *c.Load/10, *c.Load%10)
	}
	say(c.Part != "", "%s", strings.TrimSuffix(c.Part+" ("+c.Why+")", " ()"))
	say(c.Keeps, "its bounds are nobody else's")
	say(c.Standing != "" && c.Why != c.Standing, "%s", c.Standing)
	say(c.Held, "may not scale down before those of lower priority")
	return c.Name + ": " + strings.Join(words, ", ")
}

// bound prints what a bound adds up from.
func (t *page) bound(name string, parts []v1alpha1.BoundTerm, n int32) {
	if n == 0 {
		return
	}
	var all terms
	var notes []string
	for i := range parts {
		p := &parts[i]
		all = append(all, int64(p.Replicas))
		notes = append(notes, fmt.Sprintf("%d %s", p.Replicas, sourceWords(p.From)))
		switch {
		case p.Weights > 0:
			t.calculation("share", shareText(p), p.Replicas, shareNote(p))
		case p.Room != nil:
			t.calculation("fill", fmt.Sprintf("min(%d, %d)", p.Of, *p.Room), p.Replicas, "what is left to give, and what it takes of that")
		}
	}
	t.sum(name, all, strings.Join(notes, ", "))
}

func shareText(p *v1alpha1.BoundTerm) string {
	text := fmt.Sprintf("%d * %d // %d", p.Of, p.Weight, p.Weights)
	switch {
	case p.Room != nil:
		return fmt.Sprintf("min(%s, %d)", text, *p.Room)
	case int64(p.Replicas) > quotaOf(p):
		return text + " + 1"
	}
	return text
}

func shareNote(p *v1alpha1.BoundTerm) string {
	switch {
	case p.Room != nil:
		return "it takes no more; the others divide the rest"
	case int64(p.Replicas) > quotaOf(p):
		return "rounding left some, of which the heaviest get 1 each"
	}
	return ""
}

// sourceWords say where a part of a bound comes from.
func sourceWords(from string) string {
	if words, known := map[assignment.Source]string{
		assignment.Whole:      "whole, as every cluster gets it",
		assignment.Before:     "before",
		assignment.Running:    "run, or are its part of the minimum",
		assignment.Threshold:  "by autoscalingMinThreshold",
		assignment.ByWeight:   "by weight",
		assignment.Equally:    "equally, of what weights leave",
		assignment.Hosted:     "can be hosted",
		assignment.ToFirst:    "as first, of what nobody is known to host",
		assignment.AtLeastOne: "as an autoscaler needs 1",
		assignment.Kept:       "for the sake of clusters that are away, or since they are",
	}[assignment.Source(from)]; known {
		return words
	}
	return "by " + from
}

// sum prints what numbers come to.
func (t *page) sum(name string, all terms, note string) {
	if len(all) == 0 {
		all = terms{0}
	}
	t.calculation(name, all.signed(), all.sum(), note)
}

// signed adds what is positive, and takes away what is negative.
func (t terms) signed() string {
	b := &strings.Builder{}
	for i, n := range t {
		switch {
		case n < 0 && i == 0:
			fmt.Fprintf(b, "0 - %d", -n)
		case n < 0:
			fmt.Fprintf(b, " - %d", -n)
		case i == 0:
			fmt.Fprint(b, n)
		default:
			fmt.Fprintf(b, " + %d", n)
		}
	}
	return b.String()
}

func (t terms) sum() (n int64) {
	for _, part := range t {
		n += part
	}
	return n
}
