// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// each namespace has so many workloads.
const each = 50

// template is what containers request where nobody sizes them.
var template = pods.Resources{MilliCPU: 500, Memory: 1 << 30}

// dice are thrown for all that happens by chance.
type dice struct{ *rand.Rand }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func (d dice) span(most time.Duration) time.Duration { return time.Duration(d.Int64N(int64(most))) }

func (d dice) between(least, most float64) float64 { return least + d.Float64()*(most-least) }

// workload is a Deployment in all clusters, and its MultidimPodAutoscaler.
type workload struct {
	n               int
	namespace, name string
	use             []level // in order of time
	// refuses: a PodDisruptionBudget never lets one of its Pods go; guarded: one at a time.
	refuses, guarded bool
	object           *v1alpha1.MultidimPodAutoscaler
}

// level is what each Pod uses from a time on.
type level struct {
	from time.Time
	pods.Resources
}

func workloadOf(n int, began, calm time.Time, d dice) *workload {
	w := &workload{n: n, namespace: fmt.Sprintf("team-%02d", n/each), name: fmt.Sprintf("web-%04d", n), refuses: n%25 == 24,
		guarded: n%7 == 0}
	use := pods.Resources{MilliCPU: int64(d.between(20, 2000)), Memory: int64(d.between(100, 3000)) << 20}
	w.use = []level{{began, use}}
	for at := began.Add(d.span(3 * time.Hour)); at.Before(calm); at = at.Add(time.Hour + d.span(3*time.Hour)) {
		by := d.between(0.3, 3)
		use = pods.Resources{MilliCPU: min(4000, 1+int64(float64(use.MilliCPU)*by)), Memory: min(8<<30, 1+int64(float64(use.Memory)*by))}
		w.use = append(w.use, level{at, use})
	}
	w.object = w.autoscaler()
	return w
}

// autoscaler is one of each that there is.
func (w *workload) autoscaler() *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, UID: uidOf(1, w.n),
		Generation: 1}}
	m.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: w.name}
	modes := []v1alpha1.UpdateMode{v1alpha1.UpdateModeInPlaceOrRecreate, v1alpha1.UpdateModeRecreate, v1alpha1.UpdateModeAuto}
	m.Spec.Policy.UpdateMode = modes[w.n%len(modes)]
	m.Spec.Policy.MinReplicas = new(int32(1 + w.n%2))
	if w.n%4 < 2 {
		m.Spec.Policy.Rollout = v1alpha1.RolloutAllClusters
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return m
}

func (w *workload) deployment() map[string]any {
	labels := map[string]any{"app": w.name}
	requests := map[string]any{"cpu": fmt.Sprintf("%dm", template.MilliCPU), "memory": fmt.Sprint(template.Memory)}
	return (&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": w.namespace, "name": w.name},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"containers": []any{
					map[string]any{"name": container, "resources": map[string]any{"requests": requests}},
				}},
			},
		},
	}}).Object
}

// uses is what a Pod uses now, give or take a twentieth.
func (w *workload) uses(now time.Time, d dice) pods.Resources {
	use := w.use[0].Resources
	for _, l := range w.use {
		if !now.Before(l.from) {
			use = l.Resources
		}
	}
	about := func(amount int64) int64 { return amount - amount/20 + d.Int64N(amount/10+1) }
	return pods.Resources{MilliCPU: about(use.MilliCPU), Memory: about(use.Memory)}
}
