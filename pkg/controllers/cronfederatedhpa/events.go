// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// Reasons of Events.
const (
	// eventDelayed: a run is due and cannot be done yet.
	eventDelayed = "RunDelayed"
	// eventAnotherController: another controller writes the status too, so nothing is reconciled.
	eventAnotherController = "AnotherController"
	// eventSucceeded: a run set the target, or found it as it should be.
	eventSucceeded = "RunSucceeded"
	// eventFailed: a run was given up, missed or superseded.
	eventFailed = "RunFailed"
)

// tell emits the Events, metrics and log lines of a new status.
func (r *Reconciler) tell(ctx context.Context, in cronplan.Situation, d cronplan.Decision) {
	key := client.ObjectKeyFromObject(in.Object)
	for _, news := range d.News {
		r.tellRun(ctx, in, news)
	}
	memory := r.memories.Of(in.Object)
	if memory.delay = d.Delay; d.Delay == nil {
		memory.fleet.planned, memory.fleet.before = nil, nil
	}
	if !d.Delay.Quiet() && in.Delay.Quiet() {
		klog.FromContext(ctx).Info("Delayed a run", "reason", d.Delay.Reason, "message", d.Delay.Message)
		r.Events.Eventf(in.Object, nil, corev1.EventTypeWarning, eventDelayed, "SetTarget",
			"%s; it is retried", cronplan.Brief(d.Delay.Message))
	}
	r.Metrics.awaits(key, ptr.Deref(d.Status.NextExecutionTime, metav1.Time{}).Time)
}

func (r *Reconciler) tellRun(ctx context.Context, in cronplan.Situation, news cronplan.Record) {
	r.Metrics.ran(news.Result, in.Now.Sub(news.At))
	ref := in.Object.Spec.ScaleTargetRef
	kind, reason, said := corev1.EventTypeWarning, eventFailed, news.Message
	if news.Result == cronplan.Succeeded {
		kind, reason = corev1.EventTypeNormal, eventSucceeded
		said = fmt.Sprintf("%s of %s %q%s", news.Applied, ref.Kind, ref.Name, in.Target.Where)
	}
	klog.FromContext(ctx).V(2).Info("Recorded a run", "rule", news.Rule, "scheduled", news.At, "result", news.Result, "message", said)
	r.Events.Eventf(onRule(in.Object, news.Rule), nil, kind, reason, "SetTarget", "rule %q: %s", news.Rule, said)
}

// onRule refers to one rule, so that Events of two rules are not taken for one
// that repeats.
func onRule(object *v1alpha1.CronFederatedHPA, rule string) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.CronFederatedHPAKind,
		Namespace: object.Namespace, Name: object.Name, UID: object.UID,
		FieldPath: fmt.Sprintf("spec.rules{%s}", rule),
	}
}
