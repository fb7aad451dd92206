// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// view is a question with its clusters as they count, in name order.
type view struct {
	*Question
	members []census
	dark    []Unseen // the clusters that cannot be seen; set where the decision is by metrics
}

// census is how the Pods of one cluster count.
type census struct {
	*Cluster
	now      time.Time // by the cluster's clock
	draining bool      // its Pods count as if they were being deleted
	stand    Pod       // for replicas that it was assigned and has no Pod for
	stands   int       // how many
}

func newView(q *Question) *view {
	v := &view{Question: q, members: make([]census, 0, len(q.Clusters))}
	for i := range q.Clusters {
		v.members = append(v.members, q.census(&q.Clusters[i]))
	}
	slices.SortFunc(v.members, func(a, b census) int { return cmp.Compare(a.Name, b.Name) })
	return v
}

func (q *Question) census(c *Cluster) census {
	m := census{Cluster: c, now: q.Now}
	if q.many() {
		m.now = q.Now.Add(c.ClockOffset)
	}
	if q.many() && c.Assigned != nil {
		m.draining = *c.Assigned == 0
		m.stands = max(0, int(*c.Assigned)-c.present())
	}
	m.stand = Pod{Name: q.Spec.ScaleTargetRef.Name + " (not created yet)", Phase: corev1.PodPending, Requests: q.Template}
	if c.Silent != nil { // what was not there when last seen may run by now
		m.stand.Name, m.stand.Phase = q.Spec.ScaleTargetRef.Name+" (not seen)", corev1.PodRunning
	}
	return m
}

// present is the number of Pods that stand for a replica: all but those that are being replaced.
func (c *Cluster) present() int {
	n := 0
	for i := range c.Pods {
		if !c.Pods[i].Terminating && c.Pods[i].Phase != corev1.PodFailed {
			n++
		}
	}
	return n
}

// each visits the cluster's Pods, and then what stands for those it should have.
func (m *census) each(visit func(*Pod)) {
	for i := range m.Pods {
		visit(&m.Pods[i])
	}
	for range m.stands {
		visit(&m.stand)
	}
}

// hides returns why the cluster's Pods or their samples in this answer cannot be seen; empty if they can. A draining
// cluster hides nothing that counts, and one that is drained nothing that is waited for.
func (m *census) hides(answer *fleet.Coverage) fleet.Reason {
	switch {
	case m.draining, m.Drained:
		return ""
	case m.Silent != nil:
		return cmp.Or(m.Silent.Reason, fleet.ReasonUnreachable)
	case answer == nil || slices.Contains(answer.Answered, m.Name):
		return ""
	}
	for _, silent := range answer.Silent {
		if silent.Cluster == m.Name {
			return cmp.Or(silent.Reason, fleet.ReasonUnreachable)
		}
	}
	return ReasonNotAsked
}

// statusReplicas returns how many replicas the fleet runs by its own account. A cluster whose account is not known runs what
// it was assigned, or else its Pods.
func (v *view) statusReplicas() int32 {
	if !slices.ContainsFunc(v.members, func(m census) bool { return m.Replicas != nil }) {
		return v.Scale.StatusReplicas
	}
	total := int64(0)
	for _, m := range v.members {
		switch {
		case m.Replicas != nil:
			total += int64(*m.Replicas)
		case m.Assigned != nil:
			total += int64(*m.Assigned)
		default:
			total += int64(m.present())
		}
	}
	return within32(total)
}

// lagging reports whether a cluster has yet to hear what the fleet was told, so that the sum of their accounts is of no time.
func (v *view) lagging() bool {
	return v.many() && slices.ContainsFunc(v.members, func(m census) bool { return m.Lagging })
}
