// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// groups count the fleet's Pods by class, for one metric.
type groups struct {
	ignored, unready, missing, counted int
	// strangers are samples of Pods that no list holds: younger than it, or gone since. They count, as nothing tells them
	// from Pods of the workload; but not while Pods are hidden, as the hidden clusters' strangers would be missing beside them.
	strangers     int
	strangersUsed sum
	// used by counted Pods.
	used sum
	// requests by class, busy: what missing Pods would use if they were busy, and the missing Pods by what they request. Only of
	// utilizations.
	requests     [counted + 1]sum
	busy         sum
	byRequest    [mostRequests]Requested
	byRequestLen int // more than mostRequests: not all are there
	clusters     []PodCount
}

// mostRequests is by how many different requests missing Pods are told apart.
const mostRequests = 4

// addMissing adds missing Pods of one request.
func (g *groups) addMissing(r Requested) {
	if g.byRequestLen > mostRequests {
		return
	}
	for i := range g.byRequest[:g.byRequestLen] {
		if known := &g.byRequest[i]; known.Request == r.Request && known.Abandoned == r.Abandoned {
			known.Pods += r.Pods
			return
		}
	}
	if g.byRequestLen < mostRequests {
		g.byRequest[g.byRequestLen] = r
	}
	g.byRequestLen++
}

// seen is what a metric sees of one Pod. The sample means nothing unless the class is counted.
type seen struct {
	class   class
	pod     *Pod
	cluster string
	sample  Sample
	into    *groups // of its cluster
	// abandoned: nobody waits for its cluster, which cannot be seen.
	abandoned bool
}

// group classifies every Pod and passes each to visit, if there is one.
func (v *view) group(n need, m *Metric, visit func(seen)) (groups, error) {
	if m.Told != nil {
		return m.Told.groups(), m.Told.Err
	}
	g, one := groups{clusters: make([]PodCount, 0, len(v.members))}, &groups{}
	for i := range v.members {
		*one = groups{}
		v.members[i].group(v, n, m, one, visit)
		g.addCluster(one)
		g.clusters = append(g.clusters, one.count(v.members[i].Name))
	}
	if len(v.dark) > 0 && v.hidden(m.Coverage) {
		g.strangers, g.strangersUsed = 0, sum{}
	}
	switch {
	case g.total() == 0:
		return g, errNoPods
	case g.counted+g.strangers == 0:
		return g, errors.New("did not receive metrics for targeted pods (pods might be unready)")
	}
	return g, nil
}

// unusable is what a metric comes to whose Pods cannot be used.
func unusable(g groups, err error) (measured, error) {
	return measured{groups: g, working: Working{Told: g.told(err)}}, err
}

var errNoPods = errors.New("no pods returned by selector while calculating replica count")

// group classifies the Pods of one cluster into g.
func (m *census) group(v *view, n need, metric *Metric, g *groups, visit func(seen)) {
	samples := m.samples(metric)
	rule := classifier{options: v.Options, now: m.now, cpu: n.resource == corev1.ResourceCPU}
	m.each(func(p *Pod) {
		s, measured := samples[p.Name]
		if measured {
			g.strangers--
			g.strangersUsed.subtract(widen(s.Value))
		}
		is := rule.classify(p, s, measured)
		if m.draining {
			is = ignored
		}
		*g.of(is)++
		if is == counted {
			g.used.add(s.Value)
		}
		if visit != nil {
			visit(seen{class: is, pod: p, cluster: m.Name, sample: s, into: g, abandoned: m.Drained && m.Silent != nil})
		}
	})
	g.strangers += len(samples)
	for _, s := range samples {
		g.strangersUsed.add(s.Value)
	}
}

func (g *groups) count(cluster string) PodCount {
	return PodCount{
		Cluster: cluster, Ignored: g.ignored, Unready: g.unready, Missing: g.missing, Counted: g.counted,
		Used: g.used.toInt64(), Requests: g.requests[counted].toInt64(),
	}
}

// samples returns those of the answer that count: none of a cluster that is draining, or that cannot be seen.
func (m *census) samples(metric *Metric) map[string]Sample {
	if m.draining || m.hides(metric.Coverage) != "" {
		return nil
	}
	return metric.Pods[m.Name]
}

func (g *groups) of(c class) *int {
	switch c {
	case unready:
		return &g.unready
	case missing:
		return &g.missing
	case counted:
		return &g.counted
	default:
		return &g.ignored
	}
}

func (g *groups) addCluster(c *groups) {
	g.ignored += c.ignored
	g.unready += c.unready
	g.missing += c.missing
	g.counted += c.counted
	g.strangers += c.strangers
	g.strangersUsed.addSum(c.strangersUsed)
	g.used.addSum(c.used)
	for class := range g.requests {
		g.requests[class].addSum(c.requests[class])
	}
	g.busy.addSum(c.busy)
	for i := range min(c.byRequestLen, mostRequests) {
		g.addMissing(c.byRequest[i])
	}
	g.byRequestLen = max(g.byRequestLen, c.byRequestLen)
}

func (g *groups) total() int { return g.ignored + g.unready + g.missing + g.counted }

// entries is the number of Pods that take part with these filled in.
func (g *groups) entries(f filled) int {
	n := g.counted + g.strangers
	if f.busy || f.idle {
		n += g.missing
	}
	if f.unready {
		n += g.unready
	}
	return n
}

// in returns in which cluster an error is, where there are several.
func (v *view) in(cluster string, err error) error {
	if !v.many() {
		return err
	}
	return fmt.Errorf("cluster %s: %w", cluster, err)
}
