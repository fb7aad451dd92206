// SPDX-License-Identifier: Apache-2.0

package central

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// recall returns the state that a former leader left. The status is not written when a recommendation is merely
// repeated, so the last one may have been given until a moment ago, and is taken to have been: it then keeps the replicas
// for a whole window more. It is not if it would change them, for it may also be from long ago; then the replicas that
// there are stand for it.
func recall(stored *v1alpha1.StabilizationStatus, current int32, now time.Time) replicas.State {
	if stored == nil {
		return replicas.State{}
	}
	stored = stored.DeepCopy()
	repeated := false
	if last := lastOf(stored.ScaleUpRecommendations); last != nil && last.Replicas >= current {
		last.Time, repeated = metav1.NewMicroTime(now), true
	}
	if last := lastOf(stored.ScaleDownRecommendations); last != nil && last.Replicas <= current {
		last.Time, repeated = metav1.NewMicroTime(now), true
	}
	state := replicas.Recall(stored)
	if !repeated {
		state.Recommendations = append(state.Recommendations, replicas.Recommendation{Replicas: current, At: now})
	}
	return state
}

func lastOf(list []v1alpha1.Recommendation) *v1alpha1.Recommendation {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// remembers reports whether what is stored is enough for [recall] to come to the same as from the fresh memory: only then
// it need not be written.
func remembers(stored, fresh *v1alpha1.StabilizationStatus) bool {
	if stored == nil || fresh == nil {
		return stored == fresh
	}
	return endsLike(stored.ScaleUpRecommendations, fresh.ScaleUpRecommendations) &&
		endsLike(stored.ScaleDownRecommendations, fresh.ScaleDownRecommendations) &&
		endsWith(stored.ScaleUpEvents, fresh.ScaleUpEvents) &&
		endsWith(stored.ScaleDownEvents, fresh.ScaleDownEvents)
}

// endsLike reports whether the fresh list is the end of the stored one, but for the time of the last.
func endsLike(stored, fresh []v1alpha1.Recommendation) bool {
	if len(fresh) == 0 || len(stored) == 0 {
		return len(fresh) == 0
	}
	last := len(fresh) - 1
	if len(stored) <= last || stored[len(stored)-1].Replicas != fresh[last].Replicas {
		return false
	}
	return slices.EqualFunc(stored[len(stored)-1-last:len(stored)-1], fresh[:last], func(a, b v1alpha1.Recommendation) bool {
		return a.Replicas == b.Replicas && sameTime(a.Time, b.Time)
	})
}

// endsWith reports whether the fresh list is the end of the stored one.
func endsWith(stored, fresh []v1alpha1.ScaleEvent) bool {
	return len(fresh) <= len(stored) && slices.EqualFunc(stored[len(stored)-len(fresh):], fresh, func(a, b v1alpha1.ScaleEvent) bool {
		return a.Replicas == b.Replicas && sameTime(a.Time, b.Time)
	})
}

// sameTime compares to the microsecond, which is what is stored.
func sameTime(a, b metav1.MicroTime) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}
