// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/replicas/replicastest"
)

// Whatever is decided, and however long its names are, its explanation has at most 8 KiB, and names the metric that asks for most.
func FuzzBound(f *testing.F) {
	for seed := range fleettest.Rounds(1000, 10) {
		f.Add(seed, "queue<&>")
	}
	f.Fuzz(func(t *testing.T, seed uint64, name string) {
		r := rand.New(rand.NewPCG(seed, 2))
		q := randomQuestion(r)
		for range r.IntN(30) {
			replicastest.AddMetric(r, &q)
		}
		for i := range q.Spec.Metrics {
			if m := q.Spec.Metrics[i].External; m != nil {
				m.Metric.Name = strings.Repeat(name, r.IntN(60))
			}
			if r.IntN(8) == 0 {
				q.Metrics[i].Err = fmt.Errorf("%s", strings.Repeat("<"+name, r.IntN(400)))
			}
		}
		d := decided(q)
		d.Division = &Division{Policy: "StaticWeighted"}
		for i := range r.IntN(100) {
			d.Division.Clusters = append(d.Division.Clusters, v1alpha1.ClusterDivision{
				Name: strings.Repeat("m", 59) + fmt.Sprint(i), From: r.Int32(), To: r.Int32(), Why: strings.Repeat("<", 64),
			})
		}
		for range r.IntN(100) {
			d.Explanation.Unseen = append(d.Explanation.Unseen, replicas.Unseen{Cluster: strings.Repeat("u", 63), Reason: "Timeout"})
		}
		e := Of(d)
		encoded, err := json.Marshal(e)
		if err != nil || len(encoded) > mostBytes {
			t.Fatalf("%d bytes, %v", len(encoded), err)
		}
		for _, m := range e.Metrics {
			sameSums(t, &m)
		}
		if d.Explanation.Basis != replicas.BasisMetrics {
			return
		}
		most := int32(0)
		for _, m := range e.Metrics {
			most = max(most, replicas.Each(m.Asks, d.Copies))
		}
		if most != d.Explanation.Asked {
			t.Errorf("%d is asked for, and %d by those that are named", d.Explanation.Asked, most)
		}
	})
}

// The clusters of a metric, with the others, are the fleet's.
func sameSums(t *testing.T, m *v1alpha1.MetricExplanation) {
	t.Helper()
	if m.Fleet == nil || len(m.Clusters) == 0 {
		return
	}
	sum := v1alpha1.OtherClusterSums{}
	for i := range m.Clusters {
		addPods(&sum, &m.Clusters[i].ClusterPods)
	}
	if m.Others != nil {
		addPods(&sum, &m.Others.ClusterPods)
	}
	f := m.Fleet
	if sum.Counted != f.Counted || sum.Missing != f.Missing || sum.Unready != f.Unready || sum.Ignored != f.Ignored || sum.Used != f.Used ||
		sum.Requested != f.Requested {
		t.Errorf("clusters come to %+v, the fleet to %+v", sum, *f)
	}
}

// Clusters without samples are named first, then the largest.
func TestClustersNamed(t *testing.T) {
	d := &Decided{}
	d.Explanation.Metrics = []replicas.Proposal{{}}
	for i := range 20 {
		d.Explanation.Metrics[0].Pods = append(d.Explanation.Metrics[0].Pods, replicas.PodCount{Cluster: fmt.Sprintf("m%02d", i), Counted: i})
	}
	d.Explanation.Metrics[0].Pods[3].Missing = 2
	named, others := d.clusters(0, 3)
	got := fmt.Sprintf("%s %s %s, %d others with %d", named[0].Name, named[1].Name, named[2].Name, others.Clusters, others.Counted)
	if want := "m03 m19 m18, 17 others with 150"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
