// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// tell makes Events, metrics and log lines of what the status says by now.
func (r *Reconciler) tell(ctx context.Context, in situation, d decision) {
	key := client.ObjectKeyFromObject(in.object)
	for _, news := range d.news {
		r.tellRun(ctx, in, news)
	}
	var held *trouble
	if d.retry {
		held = in.target.trouble
	}
	r.troubles.keep(in.object, held)
	if held != nil && in.failing == nil {
		klog.FromContext(ctx).Info("Delayed a run", "reason", held.reason, "message", held.message)
		r.Events.Eventf(in.object, nil, corev1.EventTypeWarning, eventDelayed, "SetTarget", "%s; it is tried again", brief(held.message, maxMessage))
	}
	r.Metrics.awaits(key, timeOf(d.status.NextExecutionTime))
}

func (r *Reconciler) tellRun(ctx context.Context, in situation, news record) {
	r.Metrics.ran(news.result, in.now.Sub(news.at))
	ref := in.object.Spec.ScaleTargetRef
	kind, reason, said := corev1.EventTypeWarning, eventFailed, news.message
	if news.result == succeeded {
		kind, reason, said = corev1.EventTypeNormal, eventSucceeded, fmt.Sprintf("%s of %s %q", news.applied, ref.Kind, ref.Name)
	}
	klog.FromContext(ctx).V(2).Info("Recorded a run", "rule", news.rule, "scheduled", news.at, "result", news.result, "message", said)
	r.Events.Eventf(onRule(in.object, news.rule), nil, kind, reason, "SetTarget", "rule %q: %s", news.rule, said)
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
