// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	ours "github.com/fleetscale/fleetscale/pkg/replicas"
)

// steps are the reconciles of one scenario.
const steps = 60

// scenario runs both controllers through the same events, and returns what differed first; empty if nothing did.
func scenario(t *testing.T, seed, number uint64, seen tally) string {
	difference := ""
	synctest.Test(t, func(*testing.T) {
		d := dice{rand.New(rand.NewPCG(seed, number))}
		w := newWorld(d)
		up, us := newUpstream(w), &decider{w: w}
		for step := range steps {
			if difference = w.step(d, up, us, seen); difference != "" {
				difference = describe(w, step, difference)
				break
			}
		}
		up.stop()
		synctest.Wait()
	})
	return difference
}

func newWorld(d dice) *world {
	w := &world{clusters: of(d, 1, 1, 2, 3, 5), drained: -1, hpa: &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1},
		Spec:       d.spec(),
	}}
	if w.idle = d.oneIn(4); w.idle {
		w.hpa.Spec.MinReplicas = new(int32)
		w.hpa.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType,
			External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "m0"}, Target: d.value()}}}
	}
	w.target = target{replicas: d.int32(0, 20), selector: labels.FormatLabels(webLabels)}
	return w
}

// step changes the world, lets both reconcile it, and compares.
func (w *world) step(d dice, up *upstream, us *decider, seen tally) string {
	w.change(d, up, us)
	decision := us.decide(time.Now())
	theirs := up.reconcile()
	mine := us.follow(decision, up)
	seen.note(w, mine)
	w.target.conflicts = 0
	return compare(w, theirs, mine)
}

// change is what happens between two reconciles.
func (w *world) change(d dice, up *upstream, us *decider) {
	time.Sleep(of(d, 0, 15*time.Second, 15*time.Second, 15*time.Second, 14*time.Second, time.Minute, 5*time.Minute, 5*time.Minute+1,
		20*time.Minute))
	w.changeTarget(d)
	w.changeSpec(d)
	w.redraw(d, time.Now())
	w.remeasure(d, time.Now())
	w.changeRival(d, up)
	w.masked = w.masked || w.rivals || w.target.statusReplicas == 0 || w.asksForRareContainer()
	w.statusFail = d.oneIn(20) && !w.masked
	if d.oneIn(40) {
		up.restart()
		us.state = ours.State{}
	}
}

// changeSpec changes all of the spec, or one part.
func (w *world) changeSpec(d dice) {
	was, drawn := w.hpa.Spec, d.spec()
	switch n := d.IntN(60); {
	case n < 4 && !w.idle:
		w.hpa.Spec = drawn
	case n < 6:
		w.hpa.Spec.MinReplicas = of(d, nil, drawn.MinReplicas)
	case n < 8:
		w.hpa.Spec.Behavior = drawn.Behavior
	case n < 12 && w.idle:
		w.hpa.Spec.MinReplicas = new(int32)
	}
	if !apiequality.Semantic.DeepEqual(was, w.hpa.Spec) {
		w.hpa.Generation++
	}
}

func (w *world) changeTarget(d dice) {
	t := &w.target
	switch n := d.IntN(20); {
	case n == 0 && !w.idle:
		t.replicas = d.int32(0, 70)
	case n == 1 && t.replicas != 0:
		t.replicas = w.hpa.Spec.MaxReplicas
	}
	t.statusReplicas = t.replicas
	if d.oneIn(4) {
		t.statusReplicas = max(0, t.replicas+d.int32(-3, 3))
	}
	t.getErr, t.updateErr, t.conflicts, t.selector = nil, nil, 0, labels.FormatLabels(webLabels)
	switch d.IntN(60) {
	case 0:
		t.getErr = errors.New("no such workload")
	case 1, 2:
		t.updateErr = errors.New("refused")
	case 3, 4:
		t.conflicts = d.between(1, 6)
	case 5:
		t.selector = ""
	case 6:
		t.selector = "a b"
	}
}

// changeRival lets another autoscaler come or go; there is none where Pods are in several clusters, whose names its
// message would have.
func (w *world) changeRival(d dice, up *upstream) {
	switch {
	case w.rivals && d.oneIn(3):
		w.rivals = false
		up.forgetRival()
	case !w.rivals && w.clusters == 1 && d.oneIn(30):
		w.rivals = true
		up.hold()
		up.meetRival()
	}
}
