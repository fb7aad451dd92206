// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/series"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/replicas/replicastest"
)

// scraped is what a Prometheus has of a registry at a time.
func scraped(t *testing.T, registry prometheus.Gatherer, at time.Time) (all model.Matrix) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.Metric {
			labels := model.Metric{model.MetricNameLabel: model.LabelValue(family.GetName()), "instance": "10.0.0.1:8443"}
			for _, l := range m.Label {
				labels[model.LabelName(l.GetName())] = model.LabelValue(l.GetValue())
			}
			value := model.SamplePair{Timestamp: model.TimeFromUnixNano(at.UnixNano()), Value: model.SampleValue(m.GetGauge().GetValue())}
			all = append(all, &model.SampleStream{Metric: labels, Values: []model.SamplePair{value}})
		}
	}
	return all
}

// stored is an object whose status is of the decision on a question.
func stored(q *replicas.Question, d *replicas.Decision) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{}
	f.Namespace, f.Name, f.UID = "shop", "cart", "1"
	f.Spec.HorizontalPodAutoscalerSpec = q.Spec
	f.Status.ObservedGeneration = new(int64(0))
	f.Status.CurrentReplicas, f.Status.DesiredReplicas = q.Scale.Replicas, d.Replicas
	f.Status.Conditions = d.Status.Conditions
	f.Status.Explanation = explanation.Of(&explanation.Decided{
		Spec: &q.Spec, At: q.Now, Current: q.Scale.Replicas, Replicas: d.Replicas, Copies: q.Copies, Explanation: d.Explanation,
	})
	for i := range q.Clusters {
		f.Status.Clusters = append(f.Status.Clusters, v1alpha1.ClusterStatus{Name: q.Clusters[i].Name, CurrentReplicas: q.Clusters[i].Replicas})
	}
	return f
}

// What random decisions were told goes through the series, and every decision of which all was told comes out as it was, also by other
// bounds. Each is a past of its own, whose memory starts empty.
func TestDecisionsComeOutOfSeriesAsTheyWere(t *testing.T) {
	told, random := 0, rand.New(rand.NewPCG(22, 5))
	const rounds = 4000
	for range rounds {
		q := replicastest.Question(random)
		q.State = replicas.State{}
		d := replicas.Decide(q)
		registry := prometheus.NewRegistry()
		f := stored(&q, &d)
		NewMetrics(registry).show(f, 1)
		all := series.Records(series.Of{
			Object: recording.Object{Namespace: "shop", Name: "cart"}, Spec: &f.Spec, Options: q.Options,
		}, series.Moments(scraped(t, registry, q.Now)))
		if len(all) != 1 {
			t.Fatalf("%d records of one decision", len(all))
		}
		r := all[0]
		if r.Question.NeedsMetrics() && len(r.Question.Metrics) == 0 {
			continue
		}
		if r.Question.NeedsMetrics() {
			told++
		}
		again := replicas.Decide(r.Question)
		if r.Decided != d.Replicas || again.Replicas != d.Replicas || len(again.Explanation.Unseen) != len(d.Explanation.Unseen) ||
			again.Explanation.Asked != d.Explanation.Asked || again.Explanation.Held != d.Explanation.Held {
			t.Fatalf("recorded %d, again %d, was %d\n%+v\n%+v", r.Decided, again.Replicas, d.Replicas, again.Explanation, d.Explanation)
		}
	}
	if told < rounds/4 {
		t.Errorf("only %d of %d decisions were told", told, rounds)
	}
}

// A decision by another spec than the present one, of a metric that could not be used, or in distributed mode is not told; half of one
// never is.
func TestDecisionsThatAreNotTold(t *testing.T) {
	q := replicastest.Question(rand.New(rand.NewPCG(1, 1)))
	d := replicas.Decide(q)
	for name, change := range map[string]func(*v1alpha1.FederatedHPA){
		"edited since":    func(f *v1alpha1.FederatedHPA) { f.Generation++ },
		"refused":         func(f *v1alpha1.FederatedHPA) { f.Status.DesiredReplicas++ },
		"no explanation":  func(f *v1alpha1.FederatedHPA) { f.Status.Explanation = nil },
		"split":           func(f *v1alpha1.FederatedHPA) { f.Status.Explanation.Basis = explanation.BasisSplit },
		"another's scale": func(f *v1alpha1.FederatedHPA) { f.Status.CurrentReplicas++ },
	} {
		f := stored(&q, &d)
		if decisionOf(f, shownOf(f).amounts) == nil {
			t.Fatal("it is not told anyway")
		}
		if change(f); shownOf(f).decision != nil {
			t.Errorf("%s: it is told", name)
		}
	}
	f := stored(&q, &d)
	for i := range f.Status.Explanation.Metrics {
		f.Status.Explanation.Metrics[i].Lagging = true
	}
	if s := shownOf(f); s.decision == nil || len(s.decision.told) != 0 {
		t.Errorf("%+v", s.decision)
	}
}

// The controller's own series, of a world that it scales up, lead to records of its decisions.
func TestReconcilesComeOutOfSeries(t *testing.T) {
	w := inMembers(t, map[string]int32{"a": 4, "b": 4})
	var moments []series.Moment
	for _, percent := range []int64{50, 50, 90, 90, 90} {
		w.usesPercent(percent)
		_ = w.reconcileN(1)
		w.program.Metrics.show(w.object(), w.program.MostShown)
		moments = append(moments, series.Moments(scraped(t, w.registry, w.Clock.Now()))...)
	}
	object := w.object()
	all := series.Records(series.Of{
		Object: recording.Object{Namespace: "shop", Name: "web"}, Spec: &object.Spec,
		Options: explanation.Options(object.Status.Explanation, &object.Spec.HorizontalPodAutoscalerSpec),
	}, moments)
	ups := 0
	for _, r := range all {
		if len(r.Question.Metrics) == 0 {
			t.Errorf("at %v nothing is told", r.Question.Now)
		}
		if d := replicas.Decide(r.Question); d.Replicas != r.Decided {
			t.Errorf("at %v %d, was %d", r.Question.Now, d.Replicas, r.Decided)
		}
		if r.Outcome == recording.Scaled && r.After > r.Question.Scale.Replicas {
			ups++
		}
	}
	if len(all) < 4 || ups == 0 {
		t.Errorf("%d records, %d of them scale up: %v", len(all), ups, client.ObjectKeyFromObject(object))
	}
}
