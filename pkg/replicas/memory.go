// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What a memory holds at most, by the API.
const (
	mostRecommendations = 256
	mostEvents          = 128
)

// Memory returns what of the state matters from now on, for as long as the spec stays as it is: a decision made with
// what [Recall] makes of it is the same. It is small: only recommendations that no later one makes void, and changes
// that a policy still reaches. A state that was never asked has none.
func (s State) Memory(spec *autoscalingv2.HorizontalPodAutoscalerSpec, o Options, now time.Time) *v1alpha1.StabilizationStatus {
	if s.Recommendations == nil {
		return nil
	}
	up, down, period := time.Duration(0), o.StabilizationWindow, time.Duration(0)
	if b := spec.Behavior; b != nil {
		up, down = window(b.ScaleUp, 0), window(b.ScaleDown, o.StabilizationWindow)
		period = max(longest(b.ScaleUp), longest(b.ScaleDown))
	}
	m := &v1alpha1.StabilizationStatus{
		ScaleDownRecommendations: envelope(s.Recommendations, now.Add(-down), func(earlier, later int32) bool { return earlier > later }),
		ScaleUpEvents:            recent(s.ScaleUps, now.Add(-period)),
		ScaleDownEvents:          recent(s.ScaleDowns, now.Add(-period)),
	}
	if up > 0 {
		m.ScaleUpRecommendations = envelope(s.Recommendations, now.Add(-up), func(earlier, later int32) bool { return earlier < later })
	}
	return m
}

// Recall returns the state of a memory. Of none it is the zero State. A memory whose last recommendation is older than
// the window restrains nothing; whoever was away for so long may rather begin with the zero State, which holds what it
// finds for a window.
func Recall(m *v1alpha1.StabilizationStatus) State {
	if m == nil {
		return State{}
	}
	s := State{Recommendations: []Recommendation{}, ScaleUps: changes(m.ScaleUpEvents), ScaleDowns: changes(m.ScaleDownEvents)}
	for _, r := range slices.Concat(m.ScaleUpRecommendations, m.ScaleDownRecommendations) {
		s.Recommendations = append(s.Recommendations, Recommendation{r.Replicas, r.Time.Time})
	}
	return s
}

// envelope returns the recommendations since start that restrain more than every later one, oldest first.
func envelope(list []Recommendation, start time.Time, restrains func(earlier, later int32) bool) []v1alpha1.Recommendation {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Recommendation) int { return a.At.Compare(b.At) })
	var kept []v1alpha1.Recommendation
	for _, r := range list {
		if r.At.Before(start) {
			continue
		}
		for len(kept) > 0 && !restrains(kept[len(kept)-1].Replicas, r.Replicas) {
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, v1alpha1.Recommendation{Time: metav1.NewMicroTime(r.At), Replicas: r.Replicas})
	}
	for len(kept) > mostRecommendations { // the older of two restrains more, and now for longer
		kept[1].Replicas = kept[0].Replicas
		kept = kept[1:]
	}
	return kept
}

// recent returns the changes after start, oldest first.
func recent(list []Change, start time.Time) []v1alpha1.ScaleEvent {
	var kept []v1alpha1.ScaleEvent
	for _, c := range list {
		if c.At.After(start) {
			kept = append(kept, v1alpha1.ScaleEvent{Time: metav1.NewMicroTime(c.At), Replicas: c.Replicas})
		}
	}
	slices.SortStableFunc(kept, func(a, b v1alpha1.ScaleEvent) int { return a.Time.Compare(b.Time.Time) })
	for len(kept) > mostEvents {
		kept[1].Replicas = within32(int64(kept[0].Replicas) + int64(kept[1].Replicas))
		kept = kept[1:]
	}
	return kept
}

func changes(events []v1alpha1.ScaleEvent) []Change {
	list := make([]Change, 0, len(events))
	for _, e := range events {
		list = append(list, Change{Replicas: e.Replicas, At: e.Time.Time})
	}
	return list
}
