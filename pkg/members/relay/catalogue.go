// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"cmp"
	"slices"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
)

// mostNames bounds one member's part of the catalogue.
const mostNames = 20_000

// listed reads a member's discovery, in order and without duplicates. Members
// have much the same metrics, so each name is held once for all of them.
func (l *line[T]) listed(resources []metav1.APIResource) []unique.Handle[provider.CustomMetricInfo] {
	infos := make([]provider.CustomMetricInfo, 0, len(resources))
	for _, r := range resources {
		if info, ok := l.api.listed(r); ok {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, byName)
	infos = slices.Compact(infos)
	names := make([]unique.Handle[provider.CustomMetricInfo], len(infos))
	for i, info := range infos {
		names[i] = unique.Make(info)
	}
	return names
}

func byName(a, b provider.CustomMetricInfo) int {
	return cmp.Or(
		cmp.Compare(a.GroupResource.Resource, b.GroupResource.Resource),
		cmp.Compare(a.GroupResource.Group, b.GroupResource.Group),
		cmp.Compare(a.Metric, b.Metric),
		cmp.Compare(number01(a.Namespaced), number01(b.Namespaced)))
}

func number01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// catalogue is the union as last gathered.
func (b *board[T]) catalogue() []provider.CustomMetricInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.union
}

// gather renews the union if any member's part changed.
func (b *board[T]) gather() {
	if !b.stale.Swap(false) {
		return
	}
	all := map[unique.Handle[provider.CustomMetricInfo]]bool{}
	for _, l := range b.asked(everyone) {
		l.mu.Lock()
		names := l.names // never written to again
		l.mu.Unlock()
		for _, name := range names {
			all[name] = true
		}
	}
	union := make([]provider.CustomMetricInfo, 0, len(all))
	for name := range all {
		union = append(union, name.Value())
	}
	slices.SortFunc(union, byName)
	if b.replace(union) {
		b.onChange()
	}
}

func (b *board[T]) replace(union []provider.CustomMetricInfo) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed = !slices.Equal(b.union, union)
	b.union = union
	return changed
}
