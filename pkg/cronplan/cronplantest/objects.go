// SPDX-License-Identifier: Apache-2.0

// Package cronplantest has the objects that tests of cronplan and of its controller share.
package cronplantest

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Sets is a rule of a name and a schedule that sets the replicas.
func Sets(name, schedule string, n int32) v1alpha1.CronFederatedHPARule {
	return v1alpha1.CronFederatedHPARule{Name: name, Schedule: schedule, TargetReplicas: &n}
}

// SetsMin is one that sets the minimum.
func SetsMin(name, schedule string, n int32) v1alpha1.CronFederatedHPARule {
	return v1alpha1.CronFederatedHPARule{Name: name, Schedule: schedule, TargetMinReplicas: &n}
}

// SetsBoth is one that sets both bounds.
func SetsBoth(name, schedule string, least, most int32) v1alpha1.CronFederatedHPARule {
	return v1alpha1.CronFederatedHPARule{Name: name, Schedule: schedule, TargetMinReplicas: &least, TargetMaxReplicas: &most}
}

// The targets of rules.
var (
	Deployment = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"}
	Federated  = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "FederatedHPA", Name: "shop"}
	Multidim   = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler",
		Name: "shop"}
)

// Autoscalers are the targets whose bounds are set.
func Autoscalers() []autoscalingv2.CrossVersionObjectReference {
	return []autoscalingv2.CrossVersionObjectReference{Federated, Multidim}
}

// NewCron is an object as it was just created, with target and rules.
func NewCron(target autoscalingv2.CrossVersionObjectReference, rules ...v1alpha1.CronFederatedHPARule) *v1alpha1.CronFederatedHPA {
	return &v1alpha1.CronFederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cron", UID: "1", Generation: 1},
		Spec:       v1alpha1.CronFederatedHPASpec{ScaleTargetRef: target, Rules: rules},
	}
}

// Moment reads "2027-03-01 08:30" or with seconds, in UTC; a time alone is of that day.
func Moment(t testing.TB, text string) time.Time {
	t.Helper()
	if len(text) <= len("15:04:05") {
		text = "2027-03-01 " + text
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	t.Fatalf("no time: %q", text)
	return time.Time{}
}
