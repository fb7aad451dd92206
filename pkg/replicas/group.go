// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// class is how a Pod counts for one metric.
type class int

const (
	ignored class = iota // it is leaving: as if it were not there
	unready              // its use says nothing yet
	missing              // it runs, and its use is not known
	counted              // its use is known, and counts
)

// classifier tells Pods of one cluster apart. The first rule that fits decides.
type classifier struct {
	options Options
	now     time.Time // by the cluster's clock
	cpu     bool      // only cpu asks whether a Pod was ready while it was measured
}

func (c classifier) classify(p *Pod, s Sample, measured bool) class {
	switch {
	case p.Terminating || p.Phase == corev1.PodFailed:
		return ignored
	case p.Phase == corev1.PodPending:
		return unready
	case !measured:
		return missing
	case c.cpu && c.starting(p, s):
		return unready
	default:
		return counted
	}
}

// starting reports whether what was measured may be the work of starting up. Unknown readiness is not False.
func (c classifier) starting(p *Pod, s Sample) bool {
	if p.Ready.Status == "" || p.Started.IsZero() {
		return true
	}
	notReady := p.Ready.Status == corev1.ConditionFalse
	if p.Started.Add(c.options.CPUInitializationPeriod).After(c.now) {
		return notReady || s.At.Before(p.Ready.Since.Add(s.Window))
	}
	return notReady && p.Started.Add(c.options.InitialReadinessDelay).After(p.Ready.Since)
}
