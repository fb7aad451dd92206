// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"iter"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// apart are the limits that the replica's required anti-affinity sets: no domain that has a matching Pod takes any, and
// if the replica itself matches, every other domain takes one.
func (r *replica) apart(rooms *rooms, pods iter.Seq[*Pod]) []limit {
	if r.pod.Spec.Affinity == nil || r.pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var limits []limit
	for i := range r.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		t, ok := r.term(&r.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i])
		if ok {
			limits = append(limits, t.limit(rooms, pods))
		}
	}
	return limits
}

// term matches Pods that the replica must not be near.
type term struct {
	*replica
	key      string
	selector labels.Selector
	within   func(namespace unique.Handle[string]) bool
}

// term reads one. It is not ok if it cannot be read, or speaks of labels that the template does not have.
func (r *replica) term(t *corev1.PodAffinityTerm) (parsed term, ok bool) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || len(t.MismatchLabelKeys) > 0 {
		return term{}, false
	}
	return term{replica: r, key: t.TopologyKey, selector: r.alsoMatch(selector, t.MatchLabelKeys), within: r.namespaces(t)}, true
}

// alsoMatch narrows a selector to the replica's own values of these labels. Those that it gets later, such as the hash
// of its template, are left out: nearly always all Pods of a workload have the same.
func (r *replica) alsoMatch(selector labels.Selector, keys []string) labels.Selector {
	for _, key := range keys {
		if value, found := r.labels[key]; found {
			if requirements, selectable := labels.SelectorFromSet(labels.Set{key: value}).Requirements(); selectable {
				selector = selector.Add(requirements...)
			}
		}
	}
	return selector
}

// namespaces returns where a term matches Pods: in the replica's own namespace, in those named, or everywhere. Labels of
// namespaces are not known here, and so the namespaces that only they select are left out.
func (r *replica) namespaces(t *corev1.PodAffinityTerm) func(unique.Handle[string]) bool {
	switch selector := t.NamespaceSelector; {
	case selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		return func(unique.Handle[string]) bool { return true }
	case selector == nil && len(t.Namespaces) == 0:
		return func(namespace unique.Handle[string]) bool { return namespace == r.namespace }
	}
	return func(namespace unique.Handle[string]) bool { return slices.Contains(t.Namespaces, namespace.Value()) }
}

func (t *term) limit(rooms *rooms, pods iter.Seq[*Pod]) limit {
	l := limit{key: t.key, left: map[string]int64{}, others: unlimited, keyless: unlimited}
	if t.within(t.namespace) && t.selector.Matches(t.labels) {
		l.others = 1
	}
	for p := range pods {
		room := rooms.node(p)
		if room == nil || !t.within(p.Namespace) || !t.selector.Matches(&p.Labels) {
			continue
		}
		if domain, found := room.Labels[t.key]; found {
			l.left[domain] = 0
		}
	}
	return l
}
