// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// clusters are what each cluster ran when the decision of central mode was made, and would have run if the fleet had been told so many
// replicas then. By which rule they were divided is not recorded, so that each keeps its share.
func (r *run) clusters(record *recording.Record, was *replicas.Decision, current int32) []ClusterPoint {
	q := &record.Question
	all := make([]ClusterPoint, len(q.Clusters))
	for i := range q.Clusters {
		name := q.Clusters[i].Name
		if ran := record.Ran(i); ran != nil {
			r.ran[name] = *ran
		}
		side := ClusterSide{Replicas: float64(r.ran[name]), Unknown: unseen(record, i, was)}
		would := side
		would.Replicas = scaled(would.Replicas, q.Scale.Replicas, current)
		if q.Scale.Replicas == 0 && current > 0 {
			would.Unknown = worse(would.Unknown, Elsewhere)
		}
		all[i] = ClusterPoint{name, side, would}
	}
	slices.SortFunc(all, func(a, b ClusterPoint) int { return strings.Compare(a.Name, b.Name) })
	useIn(all, q, current)
	return all
}

// scaled is an amount in proportion to what the fleet was told; of what was told nothing it stays.
func scaled(amount float64, told, now int32) float64 {
	if told == 0 || told == now {
		return amount
	}
	return amount * float64(now) / float64(told)
}

// unseen is why the load of the cluster of that index is not known, whatever is known of the fleet's.
func unseen(record *recording.Record, i int, was *replicas.Decision) Unknown {
	c := &record.Question.Clusters[i]
	hidden := func(u replicas.Unseen) bool { return u.Cluster == c.Name }
	switch {
	case c.Silent != nil || slices.ContainsFunc(was.Explanation.Unseen, hidden):
		return Unseen
	case record.Ran(i) == nil:
		return NotTold
	}
	return ""
}

// useIn notes what the Pods of each cluster use. Values that are the fleet's are of none.
func useIn(all []ClusterPoint, q *replicas.Question, current int32) {
	for i := range min(len(q.Metrics), len(q.Spec.Metrics)) {
		t, target := q.Metrics[i].Told, aimOf(&q.Spec.Metrics[i])
		if t == nil || t.Err != nil || q.Metrics[i].Err != nil || !target.ofPods {
			continue
		}
		for _, c := range t.Clusters {
			at, found := slices.BinarySearchFunc(all, c.Cluster, byName)
			if !found {
				continue
			}
			of := float64(c.Requests)
			if !target.utilization {
				of = float64(c.Counted) * float64(target.milli)
			}
			was, would := &all[at].Was, &all[at].Would
			was.Use = higher(was.Use, percent(float64(c.Used), of, target.utilization).value())
			would.Use = higher(would.Use, percent(float64(c.Used), scaled(of, q.Scale.Replicas, current), target.utilization).value())
		}
	}
}
