// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Measured is a Pod whose usage can be looked up. It stays when the Pod goes.
type Measured struct {
	Name   string
	Labels labels.Set

	pod *pod
}

// Used returns what the member told, or will tell, of the Pod's containers by its
// measurement of that number, as long as the workload's usage is the same.
func (m Measured) Used(number int64) []metricsv1beta1.ContainerMetrics {
	m.pod.world.mu.RLock()
	defer m.pod.world.mu.RUnlock()
	return moment{number: number}.pod(m.pod).Containers
}

// Measured are the Pods of a namespace that exist now, by name.
func (m *Member) Measured(namespace string) []Measured {
	m.world.mu.RLock()
	defer m.world.mu.RUnlock()
	var all []Measured
	for _, e := range m.world.shelves["pods"][namespace] {
		p := e.(*pod)
		all = append(all, Measured{Name: p.name, Labels: p.labels(), pod: p})
	}
	return all
}

// Measurement is the number of the member's last measurement at a time, and
// when that was.
func (m *Member) Measurement(at time.Time) (number int64, when time.Time) {
	return m.usage.last(at)
}
