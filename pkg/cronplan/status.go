// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Reasons of conditions and troubles.
const (
	// reasonRulesUnderstood: every rule can run as it is written.
	reasonRulesUnderstood = "RulesUnderstood"
	// reasonInvalidRule: at least one rule cannot; the others run.
	reasonInvalidRule = "InvalidRule"
	// reasonFound: the target exists and can be read.
	reasonFound = "Found"
	// reasonNotFound: the target, or its kind, does not exist on the hub.
	reasonNotFound = "NotFound"
	// reasonNoBounds: the target is there, and lacks what the rules set; it is retried.
	reasonNoBounds = "NoBounds"
	// reasonUnreachable: the hub did not let us read the target; it is retried.
	reasonUnreachable = "Unreachable"
	// reasonNotSet: the hub did not let us set the target; it is retried.
	reasonNotSet = "NotSet"
	// reasonRefused: the hub does not accept what a rule sets.
	reasonRefused = "Refused"
	// reasonAutoscaled: another autoscaler sets the replicas of the target.
	reasonAutoscaled = "Autoscaled"
	// reasonAutoscaledInMember: one of a cluster does there. It is known since the target was read last.
	reasonAutoscaledInMember = "AutoscaledInMember"
	// reasonOnHub: the target is on the hub, and its replicas are to be divided among the clusters.
	reasonOnHub = "OnHub"
	// reasonNotPropagated: the hub was told, and no cluster follows.
	reasonNotPropagated = "NotPropagated"
	// reasonNoOther: no other autoscaler does.
	reasonNoOther = "NoOther"
)

// status returns that of the object after what was decided.
func (in *Situation) status(histories []*history, news []Record, faults []string) v1alpha1.CronFederatedHPAStatus {
	status := *in.Object.Status.DeepCopy()
	status.ObservedGeneration = new(in.Object.Generation)
	status.ExecutionHistories = nil
	for _, h := range histories {
		status.ExecutionHistories = append(status.ExecutionHistories, h.written(in.Now))
	}
	if len(news) > 0 {
		status.LastExecutionTime = stamp(in.Now)
	}
	soonest := soonest(histories)
	status.NextExecutionTime = nil
	if soonest != nil {
		status.NextExecutionTime = soonest.stored.NextExecutionTime
	}
	status.Summary = in.summary(soonest, news)
	in.conditions(&status.Conditions, faults)
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

func (in *Situation) summary(soonest *history, news []Record) *v1alpha1.CronFederatedHPASummary {
	suspended := 0
	for i := range in.Object.Spec.Rules {
		if *in.Object.Spec.Rules[i].Suspend {
			suspended++
		}
	}
	summary := &v1alpha1.CronFederatedHPASummary{Suspended: fmt.Sprintf("%d/%d", suspended, len(in.Object.Spec.Rules))}
	if soonest != nil {
		next := soonest.next().In(soonest.rule.Location)
		summary.Next = fmt.Sprintf("%s %s", next.Format(time.RFC3339), soonest.rule.spec.Name)
	}
	switch {
	case len(news) > 0:
		last := news[len(news)-1]
		summary.Last = fmt.Sprintf("%s %s", last.Rule, map[bool]string{true: "Succeeded", false: "Failed"}[last.Result == Succeeded])
	case in.Object.Status.Summary != nil:
		summary.Last = in.Object.Status.Summary.Last
	}
	return summary
}

// newsOf puts what is new of all rules in the order of the runs.
func newsOf(histories []*history, left []Record) []Record {
	news := left
	for _, h := range histories {
		news = append(news, h.news...)
	}
	slices.SortStableFunc(news, func(a, b Record) int { return a.At.Compare(b.At) })
	return news
}

// written returns what is stored: what is new comes first, and what is beyond the
// rule's limits goes.
func (h *history) written(now time.Time) v1alpha1.ExecutionHistory {
	entry := h.stored
	for _, r := range h.news {
		if r.Result == Succeeded {
			entry.SuccessfulExecutions = append([]v1alpha1.SuccessfulExecution{{
				ScheduleTime: *stamp(r.At), ExecutionTime: *stamp(now),
				AppliedReplicas: r.Applied[Replicas], AppliedMinReplicas: r.Applied[MinReplicas], AppliedMaxReplicas: r.Applied[MaxReplicas],
			}}, entry.SuccessfulExecutions...)
			continue
		}
		entry.FailedExecutions = append([]v1alpha1.FailedExecution{{
			ScheduleTime: *stamp(r.At), ExecutionTime: *stamp(now), Message: r.Message,
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

// conditions reports whether the rules can run.
func (in *Situation) conditions(conditions *[]metav1.Condition, faults []string) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		setCondition(conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}, in.Object, in.Now)
	}
	ref := in.Object.Spec.ScaleTargetRef
	if !Allowed(in.Object) {
		set(v1alpha1.CronReady, metav1.ConditionFalse, tenancy.ReasonNamespaceNotAllowed, tenancy.Refusal(in.Object.Namespace))
	} else if len(faults) > 0 {
		set(v1alpha1.CronReady, metav1.ConditionFalse, reasonInvalidRule, strings.Join(faults, "; "))
	} else {
		set(v1alpha1.CronReady, metav1.ConditionTrue, reasonRulesUnderstood, "")
	}
	switch t := in.Target.Trouble; {
	case !in.Target.Checked:
	case t != nil && (t.Reason == reasonNotFound || t.Reason == reasonNoBounds || t.Reason == reasonOnHub):
		set(v1alpha1.CronTargetFound, metav1.ConditionFalse, t.Reason, t.Message)
	case t != nil && t.Reason == reasonUnreachable:
		set(v1alpha1.CronTargetFound, metav1.ConditionUnknown, reasonUnreachable, t.Message)
	default:
		set(v1alpha1.CronTargetFound, metav1.ConditionTrue, reasonFound, fmt.Sprintf("%s %q%s", ref.Kind, ref.Name, in.Target.Where))
	}
	switch known := meta.FindStatusCondition(*conditions, v1alpha1.CronConflicting); {
	case in.Target.ScaledBy != "":
		set(v1alpha1.CronConflicting, metav1.ConditionTrue, reasonAutoscaled, in.Target.ScaledBy)
	case in.Target.ScaledThere != "":
		set(v1alpha1.CronConflicting, metav1.ConditionTrue, reasonAutoscaledInMember, in.Target.ScaledThere)
	case !in.Target.Checked && known != nil && known.Reason == reasonAutoscaledInMember:
	default:
		set(v1alpha1.CronConflicting, metav1.ConditionFalse, reasonNoOther, "")
	}
}

// setCondition adds a condition of the object to its others.
func setCondition(all *[]metav1.Condition, c metav1.Condition, object *v1alpha1.CronFederatedHPA, now time.Time) {
	c.Message, c.ObservedGeneration, c.LastTransitionTime = brief(c.Message, maxCondition), object.Generation, *stamp(now)
	meta.SetStatusCondition(all, c)
}

// NotReady returns the status of an object whose rules are not read, and why. What else it says is from before.
func NotReady(object *v1alpha1.CronFederatedHPA, reason, message string, now time.Time) v1alpha1.CronFederatedHPAStatus {
	status := *object.Status.DeepCopy()
	c := metav1.Condition{Type: v1alpha1.CronReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	setCondition(&status.Conditions, c, object, now)
	return status
}

// WhyNotReady is the reason that the status of an object gives for its rules not to be ready; empty: they are, or it is not known.
func WhyNotReady(object *v1alpha1.CronFederatedHPA) string {
	c := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.CronReady)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Reason
}
