// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// WhatIfOptions are those of `what-if`.
type WhatIfOptions struct {
	// Words name the object: TYPE/NAME, or TYPE and NAME.
	Words []string
	// Set are fields of the spec and their values: FIELD=VALUE.
	Set []string
	// Format is text, json or yaml.
	Format string
	// Observer is that of [Options].
	Observer string
}

// WhatIf prints what the last decision would have been by another spec, beside what it was. Nothing is written.
func WhatIf(ctx context.Context, caller *plugin.Caller, o WhatIfOptions) error {
	if err := plugin.ValidateFormat(o.Format, Formats()...); err != nil {
		return err
	}
	if len(o.Set) == 0 {
		return fmt.Errorf("say what would be another: --set FIELD=VALUE, such as --set spec.maxReplicas=20")
	}
	of, name, err := named(o.Words)
	if err != nil {
		return err
	}
	object, err := find(ctx, caller, o.Observer, of, name)
	if err != nil {
		return err
	}
	f, isOne := object.(*v1alpha1.FederatedHPA)
	if !isOne {
		return fmt.Errorf("only the decisions of a FederatedHPA can be made again, not those of a %s", of.names[1])
	}
	return o.print(caller.Out, f, time.Now())
}

// comparison is what programs get.
type comparison struct {
	Present *v1alpha1.DecisionExplanation `json:"present"`
	Changed *v1alpha1.DecisionExplanation `json:"changed"`
	Caveats []string                      `json:"caveats,omitempty"`
}

func (o *WhatIfOptions) print(w io.Writer, f *v1alpha1.FederatedHPA, now time.Time) error {
	c, err := compare(f, o.Set)
	if err != nil {
		return err
	}
	if o.Format != "text" {
		return plugin.Encode(w, o.Format, c)
	}
	text := c.text
	if f.Distributed() {
		text = c.splitText
	}
	_, err = io.WriteString(w, fleet.PrintableLines(text(f, now)))
	return err
}

func compare(f *v1alpha1.FederatedHPA, settings []string) (*comparison, error) {
	if f.Status.Explanation == nil {
		return nil, unexplained(f)
	}
	if seen := f.Status.ObservedGeneration; seen == nil || *seen != f.Generation {
		return nil, fmt.Errorf("FederatedHPA %s/%s has been changed since its last decision: try again when the controller-manager has seen it, "+
			"within its --sync-period", f.Namespace, f.Name)
	}
	v1alpha1.DefaultFederatedHPA(f)
	changed, err := plugin.WithSettings(f, settings)
	if err != nil {
		return nil, err
	}
	redo := explanation.Again
	if f.Distributed() {
		redo = explanation.AgainSplit
	}
	again, caveats, err := redo(changed, &f.Spec)
	if err != nil {
		return nil, fmt.Errorf("FederatedHPA %s/%s: %w", f.Namespace, f.Name, err)
	}
	if f.Status.Explanation.Division != nil {
		caveats = append(caveats, "how the clusters would divide the replicas is not shown: that goes by more than the sums")
	}
	return &comparison{f.Status.Explanation, again, caveats}, nil
}

func (c *comparison) text(f *v1alpha1.FederatedHPA, now time.Time) string {
	b := &strings.Builder{}
	p, n := c.Present, c.Changed
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d, and then %d replicas, from %d, by what was known %s\n", f.Namespace, f.Name, p.DesiredReplicas,
		n.DesiredReplicas, p.CurrentReplicas, ago(p.Time.Time, now))
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    \tNOW\tTHEN")
	row := func(name string, now, then any) { _, _ = fmt.Fprintf(t, "    %s\t%v\t%v\n", name, now, then) }
	for i := range n.Metrics {
		then := &n.Metrics[i]
		for j := range p.Metrics {
			if before := &p.Metrics[j]; before.Index == then.Index {
				row(fmt.Sprintf("metric %d %s asks", then.Index, told(then.Name)), asked(before), asked(then))
			}
		}
	}
	for _, step := range []string{explanation.StepMetrics, explanation.StepHeld, explanation.StepWindow, explanation.StepPolicy,
		explanation.StepBounds, explanation.StepFromZero} {
		before, then := left(p, step), left(n, step)
		if before != "-" || then != "-" {
			row(label(step), before, then)
		}
	}
	row("limited by", p.LimitedBy, n.LimitedBy)
	row("replicas", p.DesiredReplicas, n.DesiredReplicas)
	_ = t.Flush()
	for _, caveat := range c.Caveats {
		b.WriteString("  " + caveat + "\n")
	}
	b.WriteString("then:\n" + explanation.Text(n))
	return b.String()
}

func label(step string) string {
	switch step {
	case explanation.StepMetrics:
		return "most asked"
	case explanation.StepFromZero:
		return "from zero"
	}
	return strings.ToLower(step)
}

func asked(m *v1alpha1.MetricExplanation) string {
	if m.Error != "" {
		return "-"
	}
	return fmt.Sprintf("%d (%s)", m.Asks, m.Outcome)
}

// left is what a step leaves.
func left(e *v1alpha1.DecisionExplanation, step string) string {
	for i := range e.Steps {
		if e.Steps[i].Step == step {
			return fmt.Sprint(e.Steps[i].Replicas)
		}
	}
	return "-"
}
