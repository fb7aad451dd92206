// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// faults are what should not have been done, by property, with the first few of each.
type faults map[string][]string

const mostTold = 5

func (f faults) add(property, format string, args ...any) {
	if len(f[property]) < mostTold {
		f[property] = append(f[property], fmt.Sprintf(format, args...))
	}
}

// account is what was done in a cluster.
type account struct {
	evictions, resizes int
	last               time.Time // of either
	// evicted are how many a leader has evicted of a workload where that has no effect.
	evicted map[int]map[*leader]int
	// left is what each leader may still do now.
	left map[*leader]*allowance
}

// allowance is what a leader may do in a cluster by its rates: so many in a minute, and one minute's worth at once.
type allowance struct {
	at                 time.Time
	evictions, resizes float64
}

func (a *account) allowed(l *leader, now time.Time) *allowance {
	left := a.left[l]
	if left == nil {
		left = &allowance{now, float64(l.rates.Evictions), float64(l.rates.Resizes)}
		a.left[l] = left
	}
	minutes := now.Sub(left.at).Minutes()
	left.at = now
	left.evictions = min(float64(l.rates.Evictions), left.evictions+minutes*float64(l.rates.Evictions))
	left.resizes = min(float64(l.rates.Resizes), left.resizes+minutes*float64(l.rates.Resizes))
	return left
}

// nearly is what rounding may lack.
const nearly = 1 - 1e-6

// judgeResize is told of each resize before it is done.
func (l *leader) judgeResize(c *cluster, w *workload, p *place, now time.Time) {
	c.resizes, c.last = c.resizes+1, now
	left := c.allowed(l, now)
	if left.resizes < nearly {
		l.faults.add("rate", "%s: more resizes in %s than %d in a minute", l.at(now), c.name, l.rates.Resizes)
	}
	left.resizes--
	if w.object.Spec.Policy.UpdateMode == v1alpha1.UpdateModeRecreate {
		l.faults.add("mode", "%s: a Pod of %s is resized", l.at(now), w.name)
	}
	const most = 4 // to what it should have, which its node may refuse, and then back; and once more as the load before is forgotten
	if p.calm[0] += l.isCalm(now); p.calm[0] > most {
		l.faults.add("rest", "%s: %s, %s: a Pod is resized for the %d. time, though the load stays", l.at(now), c.name, w.name, p.calm[0])
	}
}

// isCalm is 1 if nothing has happened for a while.
func (w *world) isCalm(now time.Time) int {
	if now.Sub(w.calm) < 10*time.Minute {
		return 0
	}
	return 1
}

// judgeEviction is told of each eviction before it is done.
func (l *leader) judgeEviction(c *cluster, w *workload, p *place, now time.Time) {
	c.evictions, c.last = c.evictions+1, now
	left := c.allowed(l, now)
	if left.evictions < nearly {
		l.faults.add("rate", "%s: more evictions in %s than %d in a minute", l.at(now), c.name, l.rates.Evictions)
	}
	left.evictions--
	l.judgeLoop(c, w, p, now)
	l.judgeBudget(c, w, p, now)
	l.judgeTurn(c, w, now)
	if p.calm[1] += l.isCalm(now); p.calm[1] > 2 && !c.isBare(w) {
		l.faults.add("rest", "%s: %s, %s: a Pod is evicted for the %d. time, though the load stays", l.at(now), c.name, w.name, p.calm[1])
	}
}

// judgeLoop judges what is won by an eviction.
func (l *leader) judgeLoop(c *cluster, w *workload, p *place, now time.Time) {
	next, _ := c.sizes[w.n].at(now.Add(late))
	switch {
	case c.isBare(w):
		if c.evicted[w.n] == nil {
			c.evicted[w.n] = map[*leader]int{}
		}
		if c.evicted[w.n][l]++; c.evicted[w.n][l] > 2*(1+c.sizes[w.n].changes) {
			l.faults.add("effect", "%s: %s, %s: %d Pods were evicted, and none of the new ones had another size", l.at(now), c.name, w.name,
				c.evicted[w.n][l])
		}
	case next == p.pod.has:
		l.faults.add("loop", "%s: %s, %s: %s has what a new one would get, %v", l.at(now), c.name, w.name, p.pod.name, next)
	case p.pod.replaces && p.advice == next && p.pod.asked == p.pod.has:
		l.faults.add("loop", "%s: %s, %s: %s took the place of another for %v, and is evicted for that", l.at(now), c.name, w.name, p.pod.name,
			next)
	}
}

// judgeBudget judges how many are left.
func (l *leader) judgeBudget(c *cluster, w *workload, p *place, now time.Time) {
	ready, all := c.ready(w, now), len(c.runs[w.n])
	if !p.pod.isReady(now) {
		return
	}
	if least := int(*w.object.Spec.Policy.MinReplicas); ready < least {
		l.faults.add("budget", "%s: %s, %s: one of %d that are Ready is evicted, of at least %d", l.at(now), c.name, w.name, ready, least)
	}
	if most := max(1, all/4); all-ready+1 > most {
		l.faults.add("budget", "%s: %s, %s: %d of %d are disrupted", l.at(now), c.name, w.name, all-ready+1, all)
	}
}

// judgeTurn judges that no other cluster is about to replace what was evicted there by the same leader.
func (l *leader) judgeTurn(c *cluster, w *workload, now time.Time) {
	if w.object.Spec.Policy.Rollout == v1alpha1.RolloutAllClusters {
		return
	}
	for _, other := range l.clusters {
		if other == c || !other.froze.IsZero() || now.Sub(other.thawed) < 2*time.Minute {
			continue
		}
		for _, p := range other.settle(w, now) {
			if p.by == l && now.Sub(p.at) < time.Hour && (p.pod == nil || now.Before(p.pod.ready)) {
				l.faults.add("turn", "%s: %s evicts, and %s, which has evicted after %s, still waits for a Pod of %s", l.at(now), c.name, other.name,
					l.at(p.at), w.name)
			}
		}
	}
}

// judgeGrowth judges that no more memory is recommended than what was ever used, or had by a container that was killed, calls for: each
// kill asks for a fifth more than that, and the margin is added; a leader that ends before it has saved that has it counted once more.
func (w *world) judgeGrowth() {
	for _, of := range w.workloads {
		most := template.Memory
		for _, l := range of.use {
			most = max(most, l.Memory)
		}
		target := of.object.Status.Recommendation.Containers[0].Target.Memory.Value()
		if target > 4*most {
			w.faults.add("growth", "%s: %d MiB are recommended, and no more than %d were used", of.name, target>>20, most>>20)
		}
	}
}

// unrested are the Pods that are not as recommended in the end, though they could be; all is how many could be.
func (w *world) unrested(now time.Time) (wrong []string, all int) {
	for _, c := range w.clusters {
		for _, of := range w.workloads {
			if c.isBare(of) || of.refuses || of.object.Status.Recommendation == nil {
				continue
			}
			target := of.object.Status.Recommendation.Containers[0]
			for _, p := range c.settle(of, now) {
				if p.pod == nil || p.pod.state != pods.ResizeNone {
					continue // its node may be slow, or never do it
				}
				all++
				cpu, memory := p.pod.has.MilliCPU, p.pod.has.Memory
				if cpu < target.LowerBound.CPU.MilliValue() || cpu > target.UpperBound.CPU.MilliValue() ||
					memory < target.LowerBound.Memory.Value() || memory > target.UpperBound.Memory.Value() {
					wrong = append(wrong, fmt.Sprintf("%s: %s has %dm, %d", c.name, p.pod.name, cpu, memory))
				}
			}
		}
	}
	return wrong, all
}
