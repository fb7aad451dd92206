// SPDX-License-Identifier: Apache-2.0

package hubmetrics

// located files what was measured of Pods by cluster and Pod.
//
// An item that names its cluster is believed. One that does not is of the only
// cluster where the workload is placed, or of the only one of them that has a
// Pod of that name. Otherwise it could be anybody's, and counts as missing; so
// do two such items of one name.
type located[T any] struct {
	q       *Question
	samples map[string]map[string]T
	room    int // how many samples a cluster will have, give or take
	// unnamed are the Pods of items without a cluster, where there are several clusters.
	unnamed map[string]bool
}

// locate makes room for so many items.
func locate[T any](q *Question, items int) *located[T] {
	return &located[T]{
		q:       q,
		samples: make(map[string]map[string]T, len(q.Clusters)),
		room:    items / max(len(q.Clusters), 1),
		unnamed: map[string]bool{},
	}
}

// add files a sample; the last of equal ones stays. Cluster is empty where the item does not say.
func (l *located[T]) add(cluster, pod string, s T) {
	if cluster != "" {
		l.file(cluster, pod, s)
		return
	}
	if len(l.q.Clusters) == 1 {
		l.file(l.q.Clusters[0], pod, s)
		return
	}
	again := l.unnamed[pod]
	l.unnamed[pod] = true
	owner := l.ownerOf(pod)
	switch {
	case owner == "":
	case again:
		delete(l.samples[owner], pod)
	default:
		l.file(owner, pod, s)
	}
}

func (l *located[T]) ownerOf(pod string) string {
	if l.q.ClustersOf == nil {
		return ""
	}
	if owners := l.q.ClustersOf(pod); len(owners) == 1 {
		return owners[0]
	}
	return ""
}

func (l *located[T]) file(cluster, pod string, s T) {
	pods := l.samples[cluster]
	if pods == nil {
		pods = make(map[string]T, l.room)
		l.samples[cluster] = pods
	}
	pods[pod] = s
}
