// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Reasons of Events.
const (
	eventRecommended = "Recommended"
	eventTakenOver   = "HistoryTakenOver"
	eventOOMKilled   = "OOMKilled"
	eventRefused     = "RecommendationRefused"
	eventHidden      = "GoalHiddenByLimit"
	eventAnother     = "AnotherAutoscaler"
	eventNotWritten  = "FederatedHPANotWritten"
	eventResized     = "Resized"
	eventEvicted     = "Evicted"
	eventDeferred    = "ResizeDeferred"
	eventInfeasible  = "ResizeInfeasible"
	eventIneffective = "AdmissionIneffective"
	eventWaiting     = "WaitingForClusters"
	eventLeftBehind  = "LeftBehind"
)

// record writes the status, if more has changed than what changes all the time, or that is old; and tells the object's owner what is new.
func (r *Reconciler) record(ctx context.Context, p *plan, memory *memory) error {
	before, after := &p.Object.Status, p.status()
	r.Metrics.says(p, &after, r.MostShown)
	limit := explanation.SizesLimitedBy(after.Explanation)
	if memory.explained.Otherwise(explanation.SizesLimitedBy(before.Explanation), limit) || isNews(before, &after, p.Now.Sub(memory.written)) {
		written := p.Object.DeepCopy()
		written.Status = after
		if err := r.Hub.Status().Update(ctx, written, client.FieldOwner(FieldManager)); err != nil {
			if apierrors.IsConflict(err) {
				return err
			}
			return fmt.Errorf("writing the status: %w", err)
		}
		memory.written = p.Now
		memory.explained.Wrote(limit)
	}
	for _, e := range p.news(before, &after) {
		r.Events.Eventf(e.on(p.Object), nil, e.kind, e.reason, "Recommend", "%s", summary.Brief(e.message, summary.LongestNote))
	}
	return nil
}

// What changes all the time, which is bounds, metrics and times, is written in so long after the last write: if an amount differs by
// more than a tenth, and otherwise.
const (
	renewAfter = 10 * time.Minute
	renewAlike = time.Hour
)

// isNews reports whether a status is to be written, so long after it last was.
func isNews(before, after *v1alpha1.MultidimPodAutoscalerStatus, since time.Duration) bool {
	switch {
	case !equality.Semantic.DeepEqual(steady(before), steady(after)):
		return true
	case since >= renewAlike:
		return !equality.Semantic.DeepEqual(before, after)
	case since >= renewAfter:
		return !alike.DeepEqual(timeless(before), timeless(after))
	}
	return false
}

// alike is equality but for times, and a tenth of amounts.
var alike = conversion.EqualitiesOrDie(
	func(a, b resource.Quantity) bool {
		x, y := a.AsApproximateFloat64(), b.AsApproximateFloat64()
		return math.Abs(x-y) <= max(math.Abs(x), math.Abs(y))/10
	},
	func(_, _ metav1.Time) bool { return true },
)

// timeless is a status without what says in words how old something is, and without percentages, which are of the amounts beside
// them, and why sizes are as they are.
func timeless(s *v1alpha1.MultidimPodAutoscalerStatus) *v1alpha1.MultidimPodAutoscalerStatus {
	bare := s.DeepCopy()
	for i := range bare.CurrentMetrics {
		if current := v1alpha1.CurrentOf(&bare.CurrentMetrics[i]); current != nil && current.AverageValue != nil {
			current.AverageUtilization = nil
		}
	}
	forgetAge(bare.Conditions)
	bare.Explanation = nil
	return bare
}

// forgetAge removes how long there is history.
func forgetAge(conditions []metav1.Condition) {
	if c := meta.FindStatusCondition(conditions, v1alpha1.MultidimLowConfidence); c != nil {
		c.Message = ""
	}
}

// steady is a status without what changes all the time.
func steady(s *v1alpha1.MultidimPodAutoscalerStatus) *v1alpha1.MultidimPodAutoscalerStatus {
	bare := s.DeepCopy()
	bare.CurrentMetrics, bare.Explanation = nil, nil
	bare.Recommendation = targets(s.Recommendation)
	for i := range bare.Clusters {
		bare.Clusters[i].Recommendation = targets(bare.Clusters[i].Recommendation)
	}
	forgetAge(bare.Conditions)
	return bare
}

// news is one Event. The cluster is empty if it is not of one alone.
type news struct{ kind, reason, message, cluster string }

// on is what the Event is of: the object, or what that says of one cluster, so that Events of two clusters are not taken for one that
// repeats.
func (n news) on(object *v1alpha1.MultidimPodAutoscaler) runtime.Object {
	if n.cluster == "" {
		return object
	}
	return &corev1.ObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.MultidimPodAutoscalerKind,
		Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion,
		FieldPath: fmt.Sprintf("status.clusters{%s}", n.cluster),
	}
}

// news are what the owner is told.
func (p *plan) news(before, after *v1alpha1.MultidimPodAutoscalerStatus) (all []news) {
	if before.Recommendation == nil && after.Recommendation != nil {
		all = append(all, news{corev1.EventTypeNormal, eventRecommended, recommended(after.Recommendation), ""})
	}
	for _, what := range p.takenOver {
		all = append(all, news{corev1.EventTypeNormal, eventTakenOver, what, ""})
	}
	for _, f := range p.fed {
		if len(f.Kills) > 0 {
			all = append(all, news{corev1.EventTypeWarning, eventOOMKilled, killed(f), f.Cluster})
		}
	}
	if p.childErr != nil && !apierrors.IsConflict(p.childErr) {
		all = append(all, news{corev1.EventTypeWarning, eventNotWritten, p.childErr.Error(), ""})
	}
	all = append(all, p.moved(before)...)
	for _, of := range []struct {
		condition, reason, event string
		is                       metav1.ConditionStatus
	}{
		{v1alpha1.MultidimRecommendationProvided, reasonRefused, eventRefused, metav1.ConditionFalse},
		{v1alpha1.MultidimGoalHiddenByLimit, v1alpha1.MultidimGoalHiddenByLimit, eventHidden, metav1.ConditionTrue},
		{v1alpha1.MultidimConfigUnsupported, reasonAnotherAutoscaler, eventAnother, metav1.ConditionTrue},
		{v1alpha1.MultidimConfigUnsupported, tenancy.ReasonNamespaceNotAllowed, tenancy.ReasonNamespaceNotAllowed, metav1.ConditionTrue},
	} {
		was, is := meta.FindStatusCondition(before.Conditions, of.condition), meta.FindStatusCondition(after.Conditions, of.condition)
		if is != nil && is.Status == of.is && is.Reason == of.reason && (was == nil || was.Reason != is.Reason) {
			all = append(all, news{corev1.EventTypeWarning, of.event, is.Message, ""})
		}
	}
	return all
}

func recommended(r *v1alpha1.SizeRecommendation) string {
	var words []string
	for i := range r.Containers {
		c := &r.Containers[i]
		var each []string
		for k, name := range recommendation.ResourceNames {
			if amount := recommendation.AmountsOf(c.Target)[k]; amount >= 0 {
				each = append(each, short(sizes.Resource(k), amount)+" "+string(name))
			}
		}
		words = append(words, fmt.Sprintf("container %s: %s", c.ContainerName, strings.Join(each, ", ")))
	}
	return "the first recommendation: " + strings.Join(words, "; ")
}

func killed(f history.Fed) string {
	first := f.Kills[0]
	text := fmt.Sprintf("cluster %s: container %s of Pod %s was killed for want of memory", f.Cluster, first.Container, first.Pod)
	if n := len(f.Kills) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text + "; more is recommended for it"
}
