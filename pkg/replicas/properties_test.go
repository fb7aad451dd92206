// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const seeds = 2000 // that plain `go test` runs; with -short a tenth

// randomQuestion is of a fleet of up to six clusters, all in sight, whose Pods have the same names everywhere.
func randomQuestion(r *rand.Rand) Question {
	q := ask(r.Int32N(60) + 1)
	switch r.IntN(5) {
	case 0, 1:
		q.Spec.Metrics = []autoscalingv2.MetricSpec{utilizationOf(corev1.ResourceCPU, []int32{20, 50, 120}[r.IntN(3)])}
	case 2:
		q.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.PodsMetricSourceType,
			Pods: &autoscalingv2.PodsMetricSource{Target: share("250m")}}}
	case 3:
		q = q.with(externalOf(value("1")), r.Int64N(3000))
	default:
		q = q.with(externalOf(share("1")), r.Int64N(100_000))
	}
	load := r.Int64N(800)
	q.Metrics[0].Pods = map[string]map[string]Sample{}
	for i := range r.IntN(6) + 1 {
		c := cluster(fmt.Sprintf("member-%d", i), r.IntN(15))
		c.Replicas = new(int32(len(c.Pods)))
		samples := map[string]Sample{}
		for j := range c.Pods {
			vary(r, &c.Pods[j])
			if r.IntN(8) > 0 {
				samples[c.Pods[j].Name] = Sample{Value: load * r.Int64N(200) / 100, At: start, Window: 15 * time.Second}
			}
		}
		for j := range max(0, r.IntN(8)-5) { // of Pods that no list holds
			samples[fmt.Sprintf("gone-%d", j)] = Sample{Value: load * r.Int64N(400) / 100, At: start, Window: 15 * time.Second}
		}
		q.Clusters, q.Metrics[0].Pods[c.Name] = append(q.Clusters, c), samples
	}
	return q
}

func vary(r *rand.Rand, p *Pod) {
	switch r.IntN(16) {
	case 0:
		p.Phase = corev1.PodPending
	case 1:
		p.Phase = corev1.PodFailed
	case 2:
		p.Terminating = true
	case 3:
		p.Started, p.Ready = start.Add(-time.Minute), Ready{corev1.ConditionFalse, start.Add(-time.Minute)}
	}
}

// hidden is the question with some clusters out of sight: their Pods, the samples of their Pods, or both.
func hidden(r *rand.Rand, q Question) Question {
	q.Clusters, q.Metrics = slices.Clone(q.Clusters), slices.Clone(q.Metrics)
	m := &q.Metrics[0]
	m.Coverage, m.Pods = &fleet.Coverage{}, maps.Clone(m.Pods)
	for i := range q.Clusters {
		c := &q.Clusters[i]
		fate := r.IntN(6)
		if fate == 0 || fate == 1 {
			c.Silent = &fleet.Silence{Reason: fleet.ReasonTimeout}
		}
		if fate == 1 || fate == 2 {
			delete(m.Pods, c.Name)
			m.Coverage.Silent = append(m.Coverage.Silent, fleet.SilentMember{Cluster: c.Name, Silence: fleet.Silence{Reason: fleet.ReasonTimeout}})
			continue
		}
		m.Coverage.Answered = append(m.Coverage.Answered, c.Name)
	}
	if len(m.Values) > 0 && len(m.Coverage.Silent) > 0 {
		m.Values = []int64{m.Values[0] * r.Int64N(100) / 100} // their part is not in the sum
	}
	return q
}

// listed is the question without samples of Pods that no list holds.
func listed(q Question) Question {
	q.Metrics = slices.Clone(q.Metrics)
	all := map[string]map[string]Sample{}
	for _, c := range q.Clusters {
		all[c.Name] = maps.Clone(q.Metrics[0].Pods[c.Name])
		maps.DeleteFunc(all[c.Name], func(name string, _ Sample) bool {
			return !slices.ContainsFunc(c.Pods, func(p Pod) bool { return p.Name == name })
		})
	}
	q.Metrics[0].Pods = all
	return q
}

// Whatever is hidden, replicas are at least what they are, and at most that or what the listed Pods would call for with
// all in sight.
func FuzzHiding(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		all, part := Decide(listed(q)), Decide(hidden(r, q))
		if len(part.Explanation.Unseen) == 0 || all.Err != nil || part.Err != nil {
			return
		}
		current := q.Scale.Replicas
		if part.Replicas < current || part.Replicas > max(current, all.Replicas) {
			t.Errorf("of %d replicas %d are left with %v out of sight; with all in sight it were %d\n%+v\n%+v", current, part.Replicas,
				part.Explanation.Unseen, all.Replicas, all.Explanation, part.Explanation)
		}
		if part.Explanation.Held && part.Replicas != current {
			t.Errorf("held, and yet %d replicas of %d", part.Replicas, current)
		}
	})
}

// A fleet out of sight and back is decided as if it had never been away, once the window is over.
func FuzzRevealing(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		for i := range q.Spec.Metrics {
			if r.IntN(2) == 0 {
				q.Metrics[i].Coverage = &fleet.Coverage{Answered: names(q.Clusters)}
			}
		}
		blind := hidden(r, q)
		blind.Scale.Replicas = q.Scale.Replicas
		d := Decide(blind)
		later := q
		later.Now = later.Now.Add(time.Hour)
		want := Decide(later)
		later.State, later.Status = d.State, d.Status
		got := Decide(later)
		if got.Replicas != want.Replicas || len(got.Explanation.Unseen) > 0 {
			t.Errorf("%s after the fleet was out of sight, %s otherwise", decided(got), decided(want))
		}
	})
}

func names(clusters []Cluster) []string {
	var all []string
	for _, c := range clusters {
		all = append(all, c.Name)
	}
	return all
}

// Nobody can tell from a decision in which clusters the Pods are, nor in which order anything was listed.
func FuzzPartition(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		whole := joined(q)
		shuffled := q
		shuffled.Clusters = slices.Clone(q.Clusters)
		r.Shuffle(len(q.Clusters), func(i, j int) {
			shuffled.Clusters[i], shuffled.Clusters[j] = shuffled.Clusters[j], shuffled.Clusters[i]
		})
		for i := range shuffled.Clusters {
			c := &shuffled.Clusters[i]
			c.Pods = slices.Clone(c.Pods)
			r.Shuffle(len(c.Pods), func(i, j int) { c.Pods[i], c.Pods[j] = c.Pods[j], c.Pods[i] })
		}
		want := Decide(q)
		same(t, "the order of clusters and Pods shows", want, Decide(shuffled), ignoringPlan)
		got := Decide(whole)
		if got.Replicas != want.Replicas || decided(got) != decided(want) {
			t.Errorf("in %d clusters %s, in one %s", len(q.Clusters), decided(want), decided(got))
		}
		same(t, "metrics", want.plan.metrics, got.plan.metrics)
		same(t, "events", want.Events, got.Events)
	})
}

// joined is the question with all Pods in one cluster, under names of their own.
func joined(q Question) Question {
	one, samples := Cluster{Name: "one", Replicas: new(int32)}, map[string]Sample{}
	for _, c := range q.Clusters {
		*one.Replicas += *c.Replicas
		for _, p := range c.Pods {
			local := p.Name
			p.Name = c.Name + "." + local
			one.Pods = append(one.Pods, p)
		}
		for local, s := range q.Metrics[0].Pods[c.Name] {
			samples[c.Name+"."+local] = s
		}
	}
	q.Clusters, q.Metrics = []Cluster{one}, []Metric{{Values: q.Metrics[0].Values, Pods: map[string]map[string]Sample{"one": samples}}}
	return q
}

// Clusters whose clocks are wrong, and known to be, are as those whose clocks are right.
func FuzzClocks(f *testing.F) {
	for seed := range fleettest.Rounds(seeds, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		q := randomQuestion(r)
		q.Clusters = append(q.Clusters, Cluster{Name: "one-more", Replicas: new(int32)}) // there are several
		skewed := q
		skewed.Clusters, skewed.Metrics = slices.Clone(q.Clusters), []Metric{{Values: q.Metrics[0].Values, Pods: map[string]map[string]Sample{}}}
		for i := range skewed.Clusters {
			skew(&skewed.Clusters[i], skewed.Metrics[0].Pods, q.Metrics[0].Pods, time.Duration(r.Int64N(int64(2*time.Minute)))-time.Minute)
		}
		want, got := Decide(q), Decide(skewed)
		if got.Replicas != want.Replicas || decided(got) != decided(want) {
			t.Errorf("with wrong clocks %s, with right ones %s", decided(got), decided(want))
		}
	})
}

func skew(c *Cluster, to, from map[string]map[string]Sample, by time.Duration) {
	c.ClockOffset, c.Pods, to[c.Name] = by, slices.Clone(c.Pods), map[string]Sample{}
	for i := range c.Pods {
		c.Pods[i].Started, c.Pods[i].Ready.Since = c.Pods[i].Started.Add(by), c.Pods[i].Ready.Since.Add(by)
	}
	for name, s := range from[c.Name] {
		s.At = s.At.Add(by)
		to[c.Name][name] = s
	}
}
