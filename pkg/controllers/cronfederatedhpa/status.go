// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// status is that of the object after what was decided.
func (in *situation) status(histories []*history, news []record) v1alpha1.CronFederatedHPAStatus {
	status := *in.object.Status.DeepCopy()
	status.ObservedGeneration = &in.object.Generation
	status.ExecutionHistories = nil
	for _, h := range histories {
		status.ExecutionHistories = append(status.ExecutionHistories, h.written(in.now))
	}
	if len(news) > 0 {
		status.LastExecutionTime = stamp(in.now)
	}
	soonest := soonest(histories)
	status.NextExecutionTime = nil
	if soonest != nil {
		status.NextExecutionTime = soonest.stored.NextExecutionTime
	}
	status.Summary = in.summary(soonest, news)
	in.conditions(&status.Conditions)
	return status
}

// soonest is the history of the rule that runs next, or nil.
func soonest(histories []*history) *history {
	var found *history
	for _, h := range histories {
		if next := h.next(); !next.IsZero() && (found == nil || next.Before(found.next())) {
			found = h
		}
	}
	return found
}

func (in *situation) summary(soonest *history, news []record) *v1alpha1.CronFederatedHPASummary {
	suspended := 0
	for i := range in.object.Spec.Rules {
		if *in.object.Spec.Rules[i].Suspend {
			suspended++
		}
	}
	summary := &v1alpha1.CronFederatedHPASummary{Suspended: fmt.Sprintf("%d/%d", suspended, len(in.object.Spec.Rules))}
	if soonest != nil {
		next := soonest.next().In(soonest.rule.location)
		summary.Next = fmt.Sprintf("%s %s", next.Format(time.RFC3339), soonest.rule.spec.Name)
	}
	switch {
	case len(news) > 0:
		last := news[len(news)-1]
		summary.Last = fmt.Sprintf("%s %s", last.rule, map[bool]string{true: "Succeeded", false: "Failed"}[last.result == succeeded])
	case in.object.Status.Summary != nil:
		summary.Last = in.object.Status.Summary.Last
	}
	return summary
}

// newsOf puts what is new of all rules in the order of the runs.
func newsOf(histories []*history, left []record) []record {
	news := left
	for _, h := range histories {
		news = append(news, h.news...)
	}
	slices.SortStableFunc(news, func(a, b record) int { return a.at.Compare(b.at) })
	return news
}

// written is what is stored: what is new comes first, and what is beyond the
// rule's limits goes.
func (h *history) written(now time.Time) v1alpha1.ExecutionHistory {
	entry := h.stored
	for _, r := range h.news {
		if r.result == succeeded {
			entry.SuccessfulExecutions = append([]v1alpha1.SuccessfulExecution{{
				ScheduleTime: *stamp(r.at), ExecutionTime: *stamp(now),
				AppliedReplicas: r.applied[replicas], AppliedMinReplicas: r.applied[minReplicas], AppliedMaxReplicas: r.applied[maxReplicas],
			}}, entry.SuccessfulExecutions...)
			continue
		}
		entry.FailedExecutions = append([]v1alpha1.FailedExecution{{
			ScheduleTime: *stamp(r.at), ExecutionTime: *stamp(now), Message: r.message,
		}}, entry.FailedExecutions...)
	}
	entry.SuccessfulExecutions = first(entry.SuccessfulExecutions, *h.rule.spec.SuccessfulHistoryLimit)
	entry.FailedExecutions = first(entry.FailedExecutions, *h.rule.spec.FailedHistoryLimit)
	return entry
}

// first are the first items, up to the limit; nil if there are none.
func first[T any](items []T, limit int32) []T {
	n := min(len(items), int(max(limit, 0)))
	if n == 0 {
		return nil
	}
	return items[:n]
}

// conditions says whether the rules can run.
func (in *situation) conditions(conditions *[]metav1.Condition) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: brief(message, maxCondition),
			ObservedGeneration: in.object.Generation, LastTransitionTime: *stamp(in.now),
		})
	}
	ref := in.object.Spec.ScaleTargetRef
	if len(in.faults) > 0 {
		set(v1alpha1.CronReady, metav1.ConditionFalse, reasonInvalidRule, strings.Join(in.faults, "; "))
	} else {
		set(v1alpha1.CronReady, metav1.ConditionTrue, reasonRulesUnderstood, "")
	}
	switch t := in.target.trouble; {
	case !in.target.looked:
	case t != nil && t.reason == reasonNotFound:
		set(v1alpha1.CronTargetFound, metav1.ConditionFalse, reasonNotFound, t.message)
	case t != nil && t.reason == reasonUnreachable:
		set(v1alpha1.CronTargetFound, metav1.ConditionUnknown, reasonUnreachable, t.message)
	default:
		set(v1alpha1.CronTargetFound, metav1.ConditionTrue, reasonFound, fmt.Sprintf("%s %q", ref.Kind, ref.Name))
	}
	if in.target.governor != "" {
		set(v1alpha1.CronConflicting, metav1.ConditionTrue, reasonAutoscaled, in.target.governor)
	} else {
		set(v1alpha1.CronConflicting, metav1.ConditionFalse, reasonNoOther, "")
	}
}

// targetFound is what was last known of the target.
func targetFound(object *v1alpha1.CronFederatedHPA) bool {
	return meta.IsStatusConditionTrue(object.Status.Conditions, v1alpha1.CronTargetFound)
}
