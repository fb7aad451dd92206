// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// series are the series of one metric by their labels: of a counter or gauge its value, of a histogram what was observed how often.
func (w *world) series(name string) map[string]string {
	w.T.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		w.T.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			said := fmt.Sprint(m.GetCounter().GetValue())
			if g := m.GetGauge(); g != nil {
				said = fmt.Sprint(g.GetValue())
			}
			if h := m.GetHistogram(); h != nil {
				said = fmt.Sprintf("%v s in %d", h.GetSampleSum(), h.GetSampleCount())
			}
			found[strings.Join(labels, " ")] = said
		}
	}
	return found
}

// How long a reconcile takes, and how long a metric, is observed for every reconcile and for every metric, by what came of it.
func TestDurations(t *testing.T) {
	const of = "fleetscale_horizontal_pod_autoscaler_controller_"
	w := onHub(t)
	answers := func(after time.Duration, err error) {
		w.answer = func(m *replicas.Metric) {
			w.Clock.SetTime(w.Clock.Now().Add(after))
			m.Err = err
		}
	}
	answers(time.Second, nil)
	_, _ = w.reconcile(web) // what metrics call for is compared with the status, as by Kubernetes: there is none yet
	_, _ = w.reconcile(web)
	w.usesPercent(75)
	answers(2*time.Second, nil)
	_, _ = w.reconcile(web)
	answers(4*time.Second, errors.New("no"))
	_, _ = w.reconcile(web)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics = []autoscalingv2.MetricSpec{{Type: "Weather"}} })
	answers(8*time.Second, nil)
	_, _ = w.reconcile(web)
	same(t, "reconciles", map[string]string{"none none": "2 s in 2", "scale_up none": "2 s in 1", "none internal": "4 s in 1",
		"none spec": "8 s in 1"},
		w.series(of+"reconciliation_duration_seconds"))
	same(t, "metrics", map[string]string{"scale_up none Resource": "3 s in 2", "none none Resource": "1 s in 1",
		"none internal Resource": "4 s in 1",
		"none spec unknown":      "8 s in 1"}, w.series(of+"metric_computation_duration_seconds"))
	same(t, "metrics, counted", map[string]string{"scale_up none Resource": "2", "none none Resource": "1", "none internal Resource": "1",
		"none spec unknown": "1"},
		w.series(of+"metric_computation_total"))
}
