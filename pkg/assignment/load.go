// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// whole is a ratio of one in thousandths.
const whole = 1000

// maxRatio keeps the load of the largest fleet within an int64. No decision asks how much beyond it a load is.
const maxRatio = 1 << 20

// bounded are the ratios within what can be counted.
func bounded(ratios []int64) []int64 {
	ratios = slices.Clone(ratios)
	for i := range ratios {
		ratios[i] = max(0, min(maxRatio, ratios[i]))
	}
	return ratios
}

// running: the site runs something under an autoscaler of ours.
func (s Site) running() bool { return s.Current > 0 && s.Max > 0 }

// limited: the site would run more than its maximum, and not only because its autoscaler remembers that it wanted more.
func (s Site) limited() bool {
	return s.TooManyReplicas && s.Current >= s.Max && (len(s.Ratios) == 0 || slices.Max(s.Ratios) > whole)
}

// load returns the replicas that run, and how many of them, in thousandths, the load of the busiest metric of each site
// takes. Nothing is known if not all metrics of a site are.
func (p *plan) load() (replicas, thousandths int64, known bool) {
	for _, s := range p.sites {
		if !s.running() {
			continue
		}
		if len(s.Ratios) == 0 {
			return 0, 0, false
		}
		replicas += int64(s.Current)
		thousandths += int64(s.Current) * slices.Max(s.Ratios)
	}
	return replicas, thousandths, true
}

// needed returns how many replicas the load takes at the target of each metric, by the metric that takes most. Ask only where
// the load is known.
func (p *plan) needed() int64 {
	var most int64
	for metric := 0; ; metric++ {
		thousandths, any := int64(0), false
		for _, s := range p.sites {
			if s.running() && metric < len(s.Ratios) {
				thousandths += int64(s.Current) * s.Ratios[metric]
				any = true
			}
		}
		if !any {
			return ceilDiv(most, whole)
		}
		most = max(most, thousandths)
	}
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// observeLoad notes since when the load has been below its target. Of a load that is not known nothing is noted.
func (p *plan) observeLoad() {
	memory := &p.step.Memory
	replicas, thousandths, known := p.load()
	switch {
	case !known || thousandths >= replicas*whole:
		memory.UnderloadedSince = nil
	case memory.UnderloadedSince == nil:
		memory.UnderloadedSince = new(metav1.NewTime(p.Now))
	}
}

// underloaded: the load has been below its target for a whole window.
func (p *plan) underloaded() bool {
	since := p.step.Memory.UnderloadedSince
	return since != nil && p.Now.Sub(since.Time) >= p.Window
}
