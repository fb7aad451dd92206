// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

const (
	// mostNamed bounds how many autoscalers are named; the others are counted.
	mostNamed = 10
	// mostWhy bounds why, in characters.
	mostWhy = 120
)

// autoscaler is what is shown of one, of any kind.
type autoscaler struct {
	kind, namespace, name string
	// state is empty before there is a status.
	state string
	// why is what is wrong: a reason, and what is said of it; empty: nothing is.
	why string
}

// unreadable is the state of one that nobody should decode.
const unreadable = "Unreadable"

// states of autoscalers, from the worst: those up to worst are named, the others counted. Conflict is of clusters that others scale.
var states = []string{unreadable, "Failing", "Conflict", "Held", "Limited", "Learning", "Observing", "Paused", "Active", ""}

const worst = 4

func severity(state string) int { return slices.Index(states, state) }

// Severity orders states of autoscalers: 0 is the worst, and what is no state comes first of all.
func Severity(state string) int { return severity(state) }

// Judge returns the state of an autoscaler of any kind, in the words of the command, and what is wrong: a reason, and what is said of it.
// Both may be empty: there is no status yet, and nothing is wrong.
func Judge(object metav1.Object) (state, why string) {
	var a autoscaler
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		a = ofFederated(o)
	case *v1alpha1.CronFederatedHPA:
		a = ofRules(o)
	case *v1alpha1.MultidimPodAutoscaler:
		a = ofMultidim(o)
	}
	return a.state, a.why
}

// ofFederated is a FederatedHPA. One that fails in some clusters only is in conflict where others scale these.
func ofFederated(f *v1alpha1.FederatedHPA) autoscaler {
	a := autoscaler{kind: v1alpha1.FederatedHPAKind, namespace: f.Namespace, name: f.Name}
	if f.Status.Summary == nil {
		return a
	}
	a.state = string(f.Status.Summary.State)
	for _, kind := range []autoscalingv2.HorizontalPodAutoscalerConditionType{
		autoscalingv2.AbleToScale, autoscalingv2.ScalingActive, v1alpha1.Propagated, v1alpha1.FleetVisible,
	} {
		if c := summary.Condition(&f.Status, kind); c.Status == corev1.ConditionFalse && a.why == "" {
			a.why = c.Reason + ": " + c.Message
		}
	}
	if a.state == string(v1alpha1.StateFailing) {
		return a
	}
	for i := range f.Status.Clusters {
		if c := &f.Status.Clusters[i]; c.State == v1alpha1.ClusterConflict {
			a.state, a.why = "Conflict", c.Name+": "+c.Reason+": "+c.Message
			break
		}
	}
	return a
}

// ofMultidim is a MultidimPodAutoscaler.
func ofMultidim(m *v1alpha1.MultidimPodAutoscaler) autoscaler {
	a := autoscaler{kind: v1alpha1.MultidimPodAutoscalerKind, namespace: m.Namespace, name: m.Name}
	if m.Status.Summary == nil {
		return a
	}
	a.state = string(m.Status.Summary.State)
	unsupported := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MultidimConfigUnsupported)
	provided := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MultidimRecommendationProvided)
	switch {
	case unsupported != nil && unsupported.Status == metav1.ConditionTrue:
		a.why = unsupported.Reason + ": " + unsupported.Message
	case provided != nil && provided.Status == metav1.ConditionFalse:
		a.why = provided.Reason + ": " + provided.Message
	}
	return a
}

// ofRules is a CronFederatedHPA: it fails if its last run did.
func ofRules(c *v1alpha1.CronFederatedHPA) autoscaler {
	a := autoscaler{kind: v1alpha1.CronFederatedHPAKind, namespace: c.Namespace, name: c.Name}
	if c.Status.Summary == nil {
		return a
	}
	a.state = "Active"
	if rule, failed := strings.CutSuffix(c.Status.Summary.Last, " Failed"); failed {
		a.state, a.why = "Failing", "rule "+rule+" failed"
	}
	return a
}

// counts is a line for each kind that there is: how many are in each state, the worst first.
func counts(all []autoscaler) (lines []string) {
	for _, kind := range []string{v1alpha1.FederatedHPAKind, v1alpha1.CronFederatedHPAKind, v1alpha1.MultidimPodAutoscalerKind} {
		in := make([]int, len(states))
		total := 0
		for i := range all {
			if at := severity(all[i].state); all[i].kind == kind && at >= 0 {
				in[at]++
				total++
			}
		}
		if total == 0 {
			continue
		}
		var parts []string
		for i, n := range in {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, cmp.Or(strings.ToLower(states[i]), "not reconciled yet")))
			}
		}
		lines = append(lines, fleet.Counted(total, kind)+": "+strings.Join(parts, ", "))
	}
	return lines
}

// troubled are those that are named, the worst first, and how many more there are.
func troubled(all []autoscaler) (named []autoscaler, more int) {
	for i := range all {
		if at := severity(all[i].state); at >= 0 && at < worst {
			named = append(named, all[i])
		}
	}
	slices.SortStableFunc(named, func(a, b autoscaler) int {
		return cmp.Or(cmp.Compare(severity(a.state), severity(b.state)), strings.Compare(a.namespace, b.namespace),
			strings.Compare(a.name, b.name))
	})
	if more = len(named) - mostNamed; more > 0 {
		return named[:mostNamed], more
	}
	return named, 0
}

// tableOf is the table of those that are named.
func tableOf(named []autoscaler) *metav1.Table {
	table := &metav1.Table{}
	for _, column := range []string{"Kind", "Namespace", "Name", "State", "Why"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: column, Type: "string"})
	}
	for _, a := range named {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{a.kind, a.namespace, a.name, a.state, fleet.PrintableLine(a.why, mostWhy)}})
	}
	return table
}
