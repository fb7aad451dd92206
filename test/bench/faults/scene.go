// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	namespaces     = 4  // that are asked for all the time
	coldNamespaces = 64 // for first questions: more than there are phases
	// requests is the custom metric, queue and shard are the external ones.
	requests, queue, shard = "requests_per_second", "queue_messages", "shard_messages"
	perPod                 = 42
	podsOfEach             = 25 // Pods of a member in a namespace, but for those that come and go

	resolution = 15 * time.Second
	// maxAge is the default of the adapter's --max-age.
	maxAge = time.Minute
)

func loadNamespace(i int) string { return fmt.Sprintf("load-%d", i+1) }
func coldNamespace(i int) string { return fmt.Sprintf("first-%d", i+1) }

// scene is what faults happen to.
type scene struct {
	plan     plan
	stage    *stage.Stage
	fleet    *sim.Fleet
	replicas *stage.Replicas
	scalers  *scalers
	log      io.Writer
	random   *rand.Rand

	pods   *truth.Pods
	judge  *truth.Judge
	sum    map[string]int64
	series map[string]map[string][]truth.Series

	// phase is its number: there is a namespace for each.
	phase atomic.Int64
}

func newScene(ctx context.Context, st *stage.Stage, p plan, seed uint64, log io.Writer) (s *scene, err error) {
	fmt.Fprintf(log, "Setting up %d members, two adapters and two controller-managers ...\n", p.Members)
	s = &scene{plan: p, stage: st, log: log, random: rand.New(rand.NewPCG(seed, 0)), pods: truth.NewPods(maxAge, resolution)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if s.judge, err = truth.NewJudge(s.pods); err != nil {
		return s, err
	}
	if s.fleet, err = st.Enlist(ctx, sim.Options{Members: p.Members, Resolution: resolution}); err != nil {
		return s, err
	}
	if err := s.populate(); err != nil {
		return s, err
	}
	if s.replicas, err = st.Replicas(ctx, 2); err != nil {
		return s, err
	}
	s.scalers, err = newScalers(ctx, s)
	return s, err
}

// close leaves the stage as it was.
func (s *scene) close(ctx context.Context) (err error) {
	if s.scalers != nil {
		err = s.scalers.close(ctx)
	}
	if s.replicas != nil {
		err = errors.Join(err, s.replicas.Close(ctx))
	}
	if s.fleet != nil {
		err = errors.Join(err, s.stage.Dismiss(ctx, s.fleet))
	}
	return err
}

// populate runs the workloads that are asked for, and notes what is true of them.
func (s *scene) populate() error {
	s.sum = map[string]int64{}
	s.series = map[string]map[string][]truth.Series{queue: {}, shard: {}}
	for i, m := range s.fleet.Members() {
		s.pods.Join(m.Name(), m.Measurement)
		s.figures(m, int64(i))
		if err := s.workloads(m); err != nil {
			return err
		}
	}
	return nil
}

// figures of a member differ from those of others, but for the queue, which all see.
func (s *scene) figures(m *sim.Member, i int64) {
	m.SetFigure(sim.Figure{Namespace: loadNamespace(0), Resource: "services", Object: "api", Metric: requests,
		Value: *resource.NewQuantity(100+i, resource.DecimalSI)})
	s.sum[m.Name()] = 1000 * (100 + i)
	for metric, set := range map[string]labels.Set{queue: {"name": "mail"}, shard: {"shard": m.Name()}} {
		const messages = 30
		m.SetSeries(sim.Series{Metric: metric, Labels: set, Value: *resource.NewQuantity(messages, resource.DecimalSI)})
		s.series[metric][m.Name()] = []truth.Series{{Labels: set.String(), Value: 1000 * messages}}
	}
}

// workloads are podsOfEach Pods in each namespace. Those of StatefulSets have the same names everywhere.
func (s *scene) workloads(m *sim.Member) error {
	metrics := map[string]resource.Quantity{requests: *resource.NewQuantity(perPod, resource.DecimalSI)}
	for i := range namespaces {
		for _, w := range []sim.Workload{
			{Namespace: loadNamespace(i), Name: "web", Replicas: 15, Metrics: metrics},
			{Namespace: loadNamespace(i), Name: "db", Kind: sim.StatefulSet, Replicas: 10, Containers: 2},
			{Namespace: loadNamespace(i), Name: batch, Kind: sim.StatefulSet},
		} {
			if err := m.Run(w); err != nil {
				return err
			}
		}
		if err := s.note(m, loadNamespace(i)); err != nil {
			return err
		}
	}
	for i := range coldNamespaces {
		if err := m.Run(sim.Workload{Namespace: coldNamespace(i), Name: "web", Replicas: 2}); err != nil {
			return err
		}
		if err := s.note(m, coldNamespace(i)); err != nil {
			return err
		}
	}
	return nil
}

// note takes all Pods of a member's namespace as ones that have been there always.
func (s *scene) note(m *sim.Member, namespace string) error {
	return s.pods.Change(func(c *truth.Changes) error {
		for _, known := range m.Measured(namespace) {
			c.Came(podOf(m, namespace, known), time.Time{})
		}
		return nil
	})
}

func podOf(m *sim.Member, namespace string, known sim.Measured) truth.Pod {
	return truth.Pod{ID: truth.ID{Cluster: m.Name(), Namespace: namespace, Name: known.Name}, Labels: known.Labels, Figure: 1000 * perPod,
		Used: known.Used}
}

// batch is the workload whose Pods come and go.
const batch = "batch"

// churn has Pods come and go until the context ends.
func (s *scene) churn(ctx context.Context) error {
	const every, most = 2 * time.Second, 4
	for n := 0; measure.Pass(ctx, every) == nil; n++ {
		m := s.fleet.Members()[n%len(s.fleet.Members())]
		if err := s.resize(m, loadNamespace(n%namespaces), rand.N(most)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) resize(m *sim.Member, namespace string, replicas int) error {
	return s.pods.Change(func(c *truth.Changes) error {
		before := map[string]bool{}
		for _, known := range m.Measured(namespace) {
			before[known.Name] = true
		}
		begin := time.Now()
		if err := m.Scale(sim.StatefulSet, namespace, batch, replicas); err != nil {
			return err
		}
		for _, known := range m.Measured(namespace) {
			if !before[known.Name] {
				c.Came(podOf(m, namespace, known), begin)
			}
			delete(before, known.Name)
		}
		for name := range before {
			c.Went(truth.ID{Cluster: m.Name(), Namespace: namespace, Name: name}, time.Now())
		}
		return nil
	})
}

// victims are members that nobody could have foretold.
func (s *scene) victims(n int) []*sim.Member {
	all := s.fleet.Members()
	var some []*sim.Member
	for _, i := range s.random.Perm(len(all))[:min(n, len(all))] {
		some = append(some, all[i])
	}
	return some
}
