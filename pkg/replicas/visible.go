// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// unseenNamed are so many clusters that a condition names.
const unseenNamed = 10

// reportUnseen reports which clusters cannot be seen. A single cluster that always was visible is not mentioned.
func (v *view) reportUnseen(d *Decision) {
	d.Explanation.Unseen = v.dark
	before := find(d.Status.Conditions, v1alpha1.FleetVisible)
	switch {
	case len(v.dark) > 0:
		message := fmt.Sprintf("nothing is scaled down while clusters cannot be seen: %s", list(v.dark))
		if before == nil || before.Status != corev1.ConditionFalse {
			d.warn(ReasonClusterUnreachable, message)
		}
		d.set(v.Now, v1alpha1.FleetVisible, corev1.ConditionFalse, ReasonClusterUnreachable, message)
	case v.many() || before != nil:
		message := "Pods and metrics of all clusters are visible"
		if slices.ContainsFunc(v.members, func(m census) bool { return m.Drained && m.Silent != nil }) {
			message += " that are not drained"
		}
		d.set(v.Now, v1alpha1.FleetVisible, corev1.ConditionTrue, ReasonAllClustersVisible, message)
	}
}

// hold returns the recommendation, or the replicas that there are if fewer cannot be believed: part of the fleet cannot
// be seen, and may be busy.
func (v *view) hold(d *Decision, recommended int32) int32 {
	if len(v.dark) == 0 || recommended >= v.Scale.Replicas {
		return recommended
	}
	d.Explanation.Held = true
	d.warn(ReasonClusterUnreachable, fmt.Sprintf("holding %d replicas, where what can be seen calls for %d; clusters cannot be seen: %s",
		v.Scale.Replicas, recommended, list(v.dark)))
	return v.Scale.Replicas
}

// unseen are the clusters whose Pods, or parts of any metric, are not known, in name order, each with its first reason.
func (v *view) unseen() []Unseen {
	reasons := map[string]fleet.Reason{}
	v.hide(reasons, nil)
	for i := range v.Spec.Metrics {
		switch answer := v.answer(i).Coverage; {
		case answer == nil:
		case ofPods(v.Spec.Metrics[i].Type):
			v.hide(reasons, answer)
		default:
			v.hideParts(reasons, answer)
		}
	}
	var all []Unseen
	for _, cluster := range slices.Sorted(maps.Keys(reasons)) {
		all = append(all, Unseen{cluster, reasons[cluster]})
	}
	return all
}

// hide notes the clusters whose Pods, or their samples in the answer, cannot be seen.
func (v *view) hide(reasons map[string]fleet.Reason, answer *fleet.Coverage) {
	for i := range v.members {
		m := &v.members[i]
		if reason := m.hides(answer); reason != "" && reasons[m.Name] == "" {
			reasons[m.Name] = reason
		}
	}
}

// hidden reports whether the Pods of some cluster, or their samples in the answer, cannot be seen.
func (v *view) hidden(answer *fleet.Coverage) bool {
	return slices.ContainsFunc(v.members, func(m census) bool { return m.hides(answer) != "" })
}

// hideParts notes the clusters whose part of one value is not known, wherever the workload is placed. Whoever answers for all may call
// a cluster drained that is not for this workload.
func (v *view) hideParts(reasons map[string]fleet.Reason, answer *fleet.Coverage) {
	drained := func(cluster string) bool {
		return slices.ContainsFunc(v.members, func(m census) bool { return m.Name == cluster && m.Drained })
	}
	for i := range v.members {
		if m := &v.members[i]; slices.Contains(answer.Drained, m.Name) && !m.Drained && reasons[m.Name] == "" {
			reasons[m.Name] = ReasonNotAsked
		}
	}
	for _, silent := range answer.Silent {
		if !slices.Contains(answer.Covered, silent.Cluster) && !drained(silent.Cluster) && reasons[silent.Cluster] == "" {
			reasons[silent.Cluster] = cmp.Or(silent.Reason, fleet.ReasonUnreachable)
		}
	}
}

func ofPods(kind autoscalingv2.MetricSourceType) bool {
	return kind != autoscalingv2.ObjectMetricSourceType && kind != autoscalingv2.ExternalMetricSourceType
}

// list names the first of them, and counts the others.
func list(unseen []Unseen) string {
	b := &strings.Builder{}
	for i, u := range unseen[:min(len(unseen), unseenNamed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "%s: %s", u.Cluster, u.Reason)
	}
	if more := len(unseen) - unseenNamed; more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	return b.String()
}
