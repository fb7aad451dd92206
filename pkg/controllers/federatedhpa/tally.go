// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// tally counts for each cluster the objects that can not see it.
type tally struct {
	mu     sync.Mutex
	byKey  map[client.ObjectKey][]replicas.Unseen
	unseen map[string]int
}

func newTally() *tally {
	return &tally{byKey: map[client.ObjectKey][]replicas.Unseen{}, unseen: map[string]int{}}
}

// note replaces what is known of an object, and shows the counts that change.
func (t *tally) note(key client.ObjectKey, unseen []replicas.Unseen, gauge *prometheus.GaugeVec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(t.byKey[key], -1, gauge)
	t.add(unseen, 1, gauge)
	t.byKey[key] = unseen
}

func (t *tally) drop(key client.ObjectKey, gauge *prometheus.GaugeVec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(t.byKey[key], -1, gauge)
	delete(t.byKey, key)
}

// add counts; a cluster that everybody sees has no series.
func (t *tally) add(clusters []replicas.Unseen, by int, gauge *prometheus.GaugeVec) {
	for _, c := range clusters {
		t.unseen[c.Cluster] += by
		if t.unseen[c.Cluster] == 0 {
			delete(t.unseen, c.Cluster)
			gauge.DeleteLabelValues(c.Cluster)
			continue
		}
		gauge.WithLabelValues(c.Cluster).Set(float64(t.unseen[c.Cluster]))
	}
}

func (t *tally) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}
