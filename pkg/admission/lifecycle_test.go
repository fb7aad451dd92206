// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

func TestWhatIsBeingDeletedPasses(t *testing.T) {
	f := federatedHPA()
	f.Spec.MaxReplicas, f.Spec.ScaleTargetRef.APIVersion = 0, "app/v1"
	f.DeletionTimestamp = deleted()
	before := f.DeepCopy()
	if warnings := admission.MutateFederatedHPA(f); !cmp.Equal(before, f) || len(warnings) > 0 {
		t.Errorf("a FederatedHPA was changed, or warned of: %v", warnings)
	}
	if got := answer(admission.ValidateFederatedHPA(f, federatedHPA(), admission.Neighbours{})); got != "" {
		t.Errorf("a FederatedHPA was refused: %s", got)
	}
	c := cron()
	c.Spec.Rules[0] = v1alpha1.CronFederatedHPARule{Name: "a"}
	c.DeletionTimestamp = deleted()
	old := c.DeepCopy()
	if warnings := admission.MutateCronFederatedHPA(c); !cmp.Equal(old, c) || len(warnings) > 0 {
		t.Errorf("a CronFederatedHPA was changed, or warned of: %v", warnings)
	}
	if got := answer(admission.ValidateCronFederatedHPA(c, cron(), admission.Neighbours{})); got != "" {
		t.Errorf("a CronFederatedHPA was refused: %s", got)
	}
}

// Whoever replaces an object must not wait until nothing is left of it.
func TestNeighboursThatAreBeingDeletedDoNotCount(t *testing.T) {
	other, hpa, rules := federatedHPA(), &autoscalingv2.HorizontalPodAutoscaler{}, cron()
	other.Name, rules.Name = "other", "other"
	hpa.Spec.ScaleTargetRef = other.Spec.ScaleTargetRef
	known := admission.Neighbours{
		FederatedHPAs:     []*v1alpha1.FederatedHPA{other},
		CronFederatedHPAs: []*v1alpha1.CronFederatedHPA{rules},
		HPAs:              []*autoscalingv2.HorizontalPodAutoscaler{hpa},
	}
	onFederatedHPA := cron()
	onFederatedHPA.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1",
		Kind: "FederatedHPA", Name: "other"}
	onFederatedHPA.Spec.Rules[0].TargetReplicas, onFederatedHPA.Spec.Rules[0].TargetMinReplicas = nil, new(int32)
	judge := func() []string {
		return []string{
			answer(admission.ValidateFederatedHPA(federatedHPA(), nil, known)),
			answer(admission.ValidateCronFederatedHPA(cron(), nil, known)),
			answer(admission.ValidateCronFederatedHPA(onFederatedHPA, nil, known)),
		}
	}
	for i, got := range judge() {
		if got == "" {
			t.Errorf("answer %d passes over neighbours", i)
		}
	}
	other.DeletionTimestamp, rules.DeletionTimestamp, hpa.DeletionTimestamp = deleted(), deleted(), deleted()
	if diff := cmp.Diff([]string{"", "", ""}, judge()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A stored FederatedHPA need not have been mutated.
func TestANeighbourWithoutDefaults(t *testing.T) {
	c := cron()
	c.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "FederatedHPA",
		Name: "shop"}
	most := int32(1)
	c.Spec.Rules[0].TargetReplicas, c.Spec.Rules[0].TargetMaxReplicas = nil, &most
	known := admission.Neighbours{FederatedHPAs: []*v1alpha1.FederatedHPA{federatedHPA()}}
	if got := answer(admission.ValidateCronFederatedHPA(c, nil, known)); got != "" {
		t.Error(got)
	}
}

// An answer names each fault's rule, so that they can be counted.
func TestARuleIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range admission.Rules() {
		if rule == "" || seen[rule] {
			t.Errorf("rule %q is empty or there twice", rule)
		}
		seen[rule] = true
	}
}

// answer is all of an answer in one text.
func answer(faults field.ErrorList, warnings []string) string {
	var lines []string
	for _, fault := range faults {
		lines = append(lines, fault.Error())
	}
	return strings.Join(append(lines, warnings...), "\n")
}

func cron() *v1alpha1.CronFederatedHPA {
	return &v1alpha1.CronFederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Name: "day"},
		Spec: v1alpha1.CronFederatedHPASpec{
			ScaleTargetRef: federatedHPA().Spec.ScaleTargetRef,
			Rules:          []v1alpha1.CronFederatedHPARule{{Name: "morning", Schedule: "0 8 * * *", TargetReplicas: new(int32)}},
		},
	}
}

func deleted() *metav1.Time {
	return &metav1.Time{Time: time.Date(2027, time.March, 1, 0, 0, 0, 0, time.UTC)}
}
