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
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
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
	m := multidim()
	m.Spec.Scope, m.Spec.ScaleTargetRef.APIVersion = "Cluster", "app/v1"
	m.DeletionTimestamp = deleted()
	was := m.DeepCopy()
	if warnings := admission.MutateMultidimPodAutoscaler(m); !cmp.Equal(was, m) || len(warnings) > 0 {
		t.Errorf("a MultidimPodAutoscaler was changed, or warned of: %v", warnings)
	}
	if got := answer(admission.ValidateMultidimPodAutoscaler(m, multidim(), admission.Neighbours{})); got != "" {
		t.Errorf("a MultidimPodAutoscaler was refused: %s", got)
	}
}

// A MultidimPodAutoscaler counts by itself, too, and once beside the FederatedHPA that it made; to that one it is no other.
func TestAMultidimPodAutoscalerBeside(t *testing.T) {
	sized, made := multidim(), federatedHPA()
	sized.Name, made.Name = "sized", "sized"
	sized.Spec.Goals = &v1alpha1.Goals{}
	made.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "MultidimPodAutoscaler",
		Name: "sized", Controller: new(true)}}
	known := admission.Neighbours{MultidimPodAutoscalers: []*v1alpha1.MultidimPodAutoscaler{sized}}
	const refused = `spec.scaleTargetRef: Forbidden: Deployment "shop" belongs to MultidimPodAutoscaler "sized" already: write the metrics into ` +
		`its goals, or name another workload`
	const warned = `spec.scaleTargetRef: Deployment "shop" belongs to MultidimPodAutoscaler "sized", and the rules will fail: name that MultidimPodAutoscaler instead`
	for range 2 {
		if got := answer(admission.ValidateFederatedHPA(federatedHPA(), nil, known)); got != refused {
			t.Errorf("got %s\nwant %s", got, refused)
		}
		if got := answer(admission.ValidateCronFederatedHPA(cron(), nil, known)); got != warned {
			t.Errorf("got %s\nwant %s", got, warned)
		}
		if got := answer(admission.ValidateFederatedHPA(made, nil, known)); got != "" {
			t.Errorf("the FederatedHPA that it made: %s", got)
		}
		known.FederatedHPAs = []*v1alpha1.FederatedHPA{made}
	}
	sized.DeletionTimestamp, known.FederatedHPAs = deleted(), nil
	if got := answer(admission.ValidateFederatedHPA(federatedHPA(), nil, known)); got != "" {
		t.Errorf("one that is being deleted: %s", got)
	}
}

// The FederatedHPA that has the name is not in the way once it is being deleted.
func TestANameThatBecomesFree(t *testing.T) {
	other, m := federatedHPA(), multidim()
	other.Spec.ScaleTargetRef.Name = "basket"
	m.Name, m.Spec.Goals = other.Name, &v1alpha1.Goals{Metrics: []autoscalingv2.MetricSpec{external("queue", nil)}}
	m.Spec.Constraints.Global = &v1alpha1.GlobalConstraints{MaxReplicas: 3}
	known := admission.Neighbours{FederatedHPAs: []*v1alpha1.FederatedHPA{other}}
	if got := answer(admission.ValidateMultidimPodAutoscaler(m, nil, known)); !strings.Contains(got, "another name") {
		t.Errorf("got %q", got)
	}
	other.DeletionTimestamp = deleted()
	if got := answer(admission.ValidateMultidimPodAutoscaler(m, nil, known)); got != "" {
		t.Error(got)
	}
}

func multidim() *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	m.Spec.ScaleTargetRef = federatedHPA().Spec.ScaleTargetRef
	return m
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
	sized, onMultidim := multidim(), onFederatedHPA.DeepCopy()
	sized.Name, sized.Spec.ScaleTargetRef.Name = "other", "basket"
	known.MultidimPodAutoscalers = []*v1alpha1.MultidimPodAutoscaler{sized}
	onMultidim.Spec.ScaleTargetRef.Kind, onMultidim.Spec.Rules[0].TargetMinReplicas = "MultidimPodAutoscaler", new(int32(1))
	judge := func() []string {
		return []string{
			answer(admission.ValidateFederatedHPA(federatedHPA(), nil, known)),
			answer(admission.ValidateCronFederatedHPA(cron(), nil, known)),
			answer(admission.ValidateCronFederatedHPA(onFederatedHPA, nil, known)),
			answer(admission.ValidateCronFederatedHPA(onMultidim, nil, known)),
		}
	}
	for i, got := range judge() {
		if got == "" {
			t.Errorf("answer %d passes over neighbours", i)
		}
	}
	other.DeletionTimestamp, rules.DeletionTimestamp, hpa.DeletionTimestamp = deleted(), deleted(), deleted()
	sized.DeletionTimestamp = deleted()
	fleettest.Same(t, "", []string{"", "", "", ""}, judge())
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

// A FederatedHPA that only observes may be stored beside an autoscaler of the workload; to let it act is refused while that is there.
func TestObserveBesideAnother(t *testing.T) {
	observer := federatedHPA()
	observer.Spec.FederatedHPAAssignment, observer.Spec.Mode = nil, v1alpha1.ModeObserve
	live := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: observer.Namespace, Name: "live"}}
	live.Spec.ScaleTargetRef = observer.Spec.ScaleTargetRef
	known := admission.Neighbours{HPAs: []*autoscalingv2.HorizontalPodAutoscaler{live}}
	if faults, _ := admission.ValidateFederatedHPA(observer, nil, known); len(faults) > 0 {
		t.Errorf("an observer is refused: %v", faults)
	}
	acting := observer.DeepCopy()
	acting.Spec.Mode = v1alpha1.ModeActive
	if faults, _ := admission.ValidateFederatedHPA(acting, observer, known); len(faults) != 1 || faults[0].Field != "spec.scaleTargetRef" {
		t.Errorf("it may act beside the other: %v", faults)
	}
}
