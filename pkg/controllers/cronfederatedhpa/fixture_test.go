// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

type ruleSpec = v1alpha1.CronFederatedHPARule

// rules make the tests short: a name, a schedule, and what is set.
func sets(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetReplicas: &n}
}

func setsMin(name, schedule string, n int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMinReplicas: &n}
}

func setsBoth(name, schedule string, least, most int32) ruleSpec {
	return ruleSpec{Name: name, Schedule: schedule, TargetMinReplicas: &least, TargetMaxReplicas: &most}
}

var (
	deployment = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"}
	federated  = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "FederatedHPA", Name: "shop"}
	multidim   = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler",
		Name: "shop"}
)

// autoscalers are the targets whose bounds are set.
func autoscalers() []autoscalingv2.CrossVersionObjectReference {
	return []autoscalingv2.CrossVersionObjectReference{federated, multidim}
}

// newCron is an object as it was just created, with target and rules.
func newCron(target autoscalingv2.CrossVersionObjectReference, rules ...ruleSpec) *v1alpha1.CronFederatedHPA {
	return &v1alpha1.CronFederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cron", UID: "1", Generation: 1},
		Spec:       v1alpha1.CronFederatedHPASpec{ScaleTargetRef: target, Rules: rules},
	}
}

// moment reads "2027-03-01 08:30" or with seconds, in UTC; a time alone is of that day.
func moment(t testing.TB, text string) time.Time {
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

// stamp is a time as the API writes it.
func stamp(t time.Time) *metav1.Time { return new(metav1.NewTime(t)) }
