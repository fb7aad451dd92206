// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spread is one constraint that the replica's template sets on how evenly its Pods lie over domains.
type spread struct {
	*replica
	constraint *corev1.TopologySpreadConstraint
	selector   labels.Selector
	// keys are the labels that all constraints of the template speak of: nodes that lack one of them do not count.
	keys []string
}

// spreads are the constraints that must be kept. One that cannot be read keeps the scheduler from binding any replica,
// and ok is false.
func (r *replica) spreads() (spreads []spread, ok bool) {
	var keys []string
	for i := range r.pod.Spec.TopologySpreadConstraints {
		c := &r.pod.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			return nil, false
		}
		keys = append(keys, c.TopologyKey)
		spreads = append(spreads, spread{replica: r, constraint: c, selector: r.alsoMatch(selector, c.MatchLabelKeys)})
	}
	for i := range spreads {
		spreads[i].keys = keys
	}
	return spreads, true
}

// limit returns what each domain takes if the shares are all that fit: no more than maxSkew above the level that the emptiest
// domain can reach.
func (s *spread) limit(rooms *rooms, pods iter.Seq[*Pod], shares []share) limit {
	l := limit{key: s.constraint.TopologyKey, others: unlimited}
	if s.selector.Empty() { // the scheduler counts no Pod for it, and so nothing is ever uneven
		return l
	}
	have := s.count(rooms, pods)
	joins := s.selector.Matches(s.labels)
	top := plus(s.level(have, shares, joins), int64(s.constraint.MaxSkew))
	l.left = make(map[string]int64, len(have))
	for domain, n := range have {
		switch {
		case joins:
			l.left[domain] = max(0, top-n)
		case n > top:
			l.left[domain] = 0
		default:
			l.left[domain] = unlimited
		}
	}
	return l
}

// level is the number of matching Pods in the emptiest domain, once the shares are full if they count.
func (s *spread) level(have map[string]int64, shares []share, joins bool) int64 {
	if least := s.constraint.MinDomains; least != nil && len(have) < int(*least) {
		return 0
	}
	reach := maps.Clone(have)
	for i := range shares {
		if domain, found := shares[i].Labels[s.constraint.TopologyKey]; found && joins {
			reach[domain] = plus(reach[domain], shares[i].n)
		}
	}
	level := int64(unlimited)
	for _, n := range reach {
		level = min(level, n)
	}
	return level
}

// count is the number of matching Pods by domain, for each domain that has a node that counts.
func (s *spread) count(rooms *rooms, pods iter.Seq[*Pod]) map[string]int64 {
	have := map[string]int64{}
	for i := range rooms.all {
		if n := rooms.all[i].Node; s.counts(n) {
			have[n.Labels[s.constraint.TopologyKey]] += 0
		}
	}
	for p := range pods {
		if p.Terminating || p.Namespace != s.namespace || !s.selector.Matches(&p.Labels) {
			continue
		}
		if room := rooms.node(p); room != nil && s.counts(room.Node) {
			have[room.Labels[s.constraint.TopologyKey]]++
		}
	}
	return have
}

// counts reports whether the Pods of a node do.
func (s *spread) counts(n *Node) bool {
	affinity, taints := s.constraint.NodeAffinityPolicy, s.constraint.NodeTaintsPolicy
	return hasAll(n, s.keys) &&
		(affinity != nil && *affinity == corev1.NodeInclusionPolicyIgnore || s.selects(n)) &&
		(taints == nil || *taints == corev1.NodeInclusionPolicyIgnore || s.tolerates(n))
}

func hasAll(n *Node, keys []string) bool {
	for _, key := range keys {
		if _, found := n.Labels[key]; !found {
			return false
		}
	}
	return true
}
