// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// An object through the writes that it may see: each is of what is stored, and is admitted unless the step says otherwise.
func TestWrites(t *testing.T) {
	distributed := func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{} }
	observes := func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve }
	central := func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = nil }
	divides := func(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{} }
	grows := func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas++ }
	wiped := func(f *v1alpha1.FederatedHPA) { f.Annotations = nil }
	forged := func(f *v1alpha1.FederatedHPA) {
		f.Annotations = map[string]string{v1alpha1.SpecAnnotation: `{"federatedHPAAssignment":{},"mode":"Paused"}`}
	}
	const foreign = "foreign" // the hub serves Karmada's schema
	const both = `{"federatedHPAAssignment":{},"mode":"Observe"}`
	type step struct {
		schema string
		change func(*v1alpha1.FederatedHPA)
	}
	tests := map[string]struct {
		steps []step
		kept  string
		lost  []string
	}{
		"whole":              {[]step{{"", distributed}, {"", observes}}, both, nil},
		"a field is removed": {[]step{{"", distributed}, {"", observes}, {"", central}}, `{"mode":"Observe"}`, nil},
		"all are":            {[]step{{"", distributed}, {"", central}}, "", nil},
		"a label under a foreign schema": {[]step{{"", distributed}, {"", observes}, {foreign, grows}}, both,
			[]string{"federatedHPAAssignment", "mode"}},
		"and once more under ours": {[]step{{"", distributed}, {"", observes}, {foreign, grows}, {"", grows}}, both,
			[]string{"federatedHPAAssignment", "mode"}},
		"one is set again":             {[]step{{"", distributed}, {"", observes}, {foreign, grows}, {"", distributed}}, both, []string{"mode"}},
		"set again, and removed":       {[]step{{"", distributed}, {foreign, grows}, {"", distributed}, {"", central}}, "", nil},
		"what excludes it is set":      {[]step{{"", distributed}, {foreign, grows}, {"", divides}}, `{"replicaDistribution":{}}`, nil},
		"replaced without annotations": {[]step{{"", distributed}, {"", wiped}}, `{"federatedHPAAssignment":{}}`, nil},
		"so under a foreign schema": {[]step{{"", distributed}, {foreign, wiped}}, `{"federatedHPAAssignment":{}}`,
			[]string{"federatedHPAAssignment"}},
		"somebody writes the copy":          {[]step{{"", observes}, {"", forged}}, `{"mode":"Observe"}`, nil},
		"somebody creates it with one":      {[]step{{"", forged}}, "", nil},
		"somebody writes it when it is cut": {[]step{{"", observes}, {foreign, forged}}, `{"mode":"Observe"}`, []string{"mode"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stored *v1alpha1.FederatedHPA
			for _, s := range tc.steps {
				sent := &v1alpha1.FederatedHPA{}
				if stored != nil {
					sent = stored.DeepCopy()
				}
				s.change(sent)
				if s.schema == foreign {
					cut(sent)
					cut(stored) // as the hub reads it
				}
				if stored == nil {
					Admit(sent, Sent(sent), nil)
				} else {
					Admit(sent, Sent(sent), stored)
				}
				stored = sent
			}
			fleettest.Same(t, "kept", tc.kept, stored.Annotations[v1alpha1.SpecAnnotation])
			var lost []string
			for _, path := range Lacking(stored) {
				lost = append(lost, path.String())
			}
			fleettest.Same(t, "lost", tc.lost, lost)
		})
	}
}

func cut(f *v1alpha1.FederatedHPA) {
	f.Spec = v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: f.Spec.HorizontalPodAutoscalerSpec}
}

// What a default adds is no edit: it neither hides a loss nor takes a value's place in the copy.
func TestDefaultsAreNoEdits(t *testing.T) {
	object := &v1alpha1.FederatedHPA{
		Spec: v1alpha1.FederatedHPASpec{ScalingToZero: new(true), ScalingToZeroMode: v1alpha1.ScalingToZeroNative},
	}
	Admit(object, Sent(object), nil)
	stored := object.DeepCopy()
	cut(stored)
	sent := stored.DeepCopy()
	write := Sent(sent)
	sent.Spec.ScalingToZeroMode = v1alpha1.ScalingToZeroController // by a default
	Admit(sent, write, stored)
	fleettest.Same(t, "kept", Of(object), Kept(sent))
}

// An explicit false is a value: past the webhook it is no loss, and while the hub drops fields it is an edit.
func TestExplicitFalse(t *testing.T) {
	spec := func(value bool) v1alpha1.FederatedHPASpec {
		return v1alpha1.FederatedHPASpec{ScalingToZero: &value, ReplicaDistribution: &v1alpha1.ReplicaDistribution{Rebalance: &value}}
	}
	stored := &v1alpha1.FederatedHPA{Spec: spec(true)}
	Keep(stored, Of(stored))
	edited := stored.DeepCopy()
	edited.Spec = spec(false)
	fleettest.Same(t, "lost past the webhook", []Path(nil), Lacking(edited))
	cut(stored)
	sent := stored.DeepCopy()
	sent.Spec = spec(false)
	Admit(sent, Sent(sent), stored)
	fleettest.Same(t, "kept", Of(edited), Kept(sent))
}

func TestRestore(t *testing.T) {
	f := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{
		HorizontalPodAutoscalerSpec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 7},
		ScalingToZero:               new(true), Mode: v1alpha1.ModePaused,
		FederatedHPAAssignment: &v1alpha1.FederatedHPAAssignment{
			DistributionOrder: v1alpha1.DistributionMinFirst, Rebalance: &v1alpha1.Rebalance{},
		},
	}}
	Keep(f, Of(f))
	whole := f.DeepCopy()
	f.Spec.Mode, f.Spec.FederatedHPAAssignment.Rebalance = "", nil // as an older schema of ours drops it
	lost := Lacking(f)
	fleettest.Same(t, "lost", []Path{{"federatedHPAAssignment", "rebalance"}, {"mode"}}, lost)
	Restore(f, lost)
	fleettest.Same(t, "restored", whole, f)
	cut(f)
	Restore(f, Lacking(f))
	fleettest.Same(t, "restored whole", whole, f)
}

// Rules come and go by their names, wherever they stand.
func TestRules(t *testing.T) {
	rule := func(name string, delay *int64) v1alpha1.CronFederatedHPARule {
		return v1alpha1.CronFederatedHPARule{Name: name, MaxDelaySeconds: delay}
	}
	of := func(rules ...v1alpha1.CronFederatedHPARule) *v1alpha1.CronFederatedHPA {
		return &v1alpha1.CronFederatedHPA{Spec: v1alpha1.CronFederatedHPASpec{Rules: rules}}
	}
	whole := of(rule("a.b", new(int64(60))), rule("c", nil), rule("d", new(int64(90))))
	Admit(whole, Sent(whole), nil)
	fleettest.Same(t, "kept", `{"rules":{"a.b":{"maxDelaySeconds":60},"d":{"maxDelaySeconds":90}}}`,
		whole.Annotations[v1alpha1.SpecAnnotation])
	if !Agrees(whole) {
		t.Error("the copy is not of what there is")
	}
	stored := of(rule("a.b", nil), rule("c", nil), rule("d", nil))
	stored.Annotations = whole.Annotations
	sent := of(rule("d", nil), rule("e", nil), rule("c", nil)) // one is removed, one is added
	Admit(sent, Sent(sent), stored)
	lost := Lacking(sent)
	fleettest.Same(t, "lost", []Path{{"rules", "d", "maxDelaySeconds"}}, lost)
	Restore(sent, lost)
	fleettest.Same(t, "restored", of(rule("d", new(int64(90))), rule("e", nil), rule("c", nil)).Spec, sent.Spec)

	plain := of(rule("c", nil))
	Admit(plain, Sent(plain), nil)
	fleettest.Same(t, "annotations of one without fields of ours", 0, len(plain.Annotations))
}

// What the spec of a CronFederatedHPA has beside its rules is kept too, and a rule that is gone is not lost.
func TestCronFederatedHPA(t *testing.T) {
	whole := &v1alpha1.CronFederatedHPA{}
	whole.Generation, whole.Status.ObservedGeneration = 3, new(int64(3))
	whole.Spec.Rules = []v1alpha1.CronFederatedHPARule{
		{RuleName: "a", MaxDelaySeconds: new(int64(60))},
		{Name: "b", MaxDelaySeconds: new(int64(70))},
	}
	Keep(whole, Of(whole))
	cut := whole.DeepCopy()
	cut.Spec.Rules = []v1alpha1.CronFederatedHPARule{{Name: "a", Suspend: new(true)}}
	cut.Status.ObservedGeneration = nil // that goes with the rest of what is ours
	fleettest.Same(t, "missing", []Path{{"rules", "a", "maxDelaySeconds"}}, Missing(cut))
	restored := cut.DeepCopy()
	Restore(restored, Missing(cut))
	fleettest.Same(t, "restored", []v1alpha1.CronFederatedHPARule{{Name: "a", Suspend: new(true), MaxDelaySeconds: new(int64(60))}},
		restored.Spec.Rules)

	removed := cut.DeepCopy()
	removed.Generation, removed.Status.ObservedGeneration = 4, new(int64(3))
	fleettest.Same(t, "missing of what was edited past the webhook", []Path{}, Missing(removed))
	sent := removed.DeepCopy()
	Admit(sent, Sent(sent), removed)
	fleettest.Same(t, "copy, when the webhook is back", "", sent.Annotations[v1alpha1.SpecAnnotation])
}

// Who removes a field leaves no owner of it: past the webhook, or by applying a manifest without it while it is lost anyway.
func TestRemovedByItsOwner(t *testing.T) {
	entry := func(fields string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields)},
		}
	}
	const both, one, unknown = `{"f:spec":{"f:mode":{},"f:maxReplicas":{}}}`, `{"f:spec":{"f:maxReplicas":{}}}`, `{"f:metadata":{"f:labels":{}}}`
	tests := map[string]struct{ stored, sent, kept string }{
		"somebody else writes":           {both, both, `{"mode":"Observe"}`},
		"it was removed before":          {one, one, ""},
		"it is applied without it":       {both, one, ""},
		"it is not known who owns what":  {unknown, unknown, `{"mode":"Observe"}`},
		"who owns what is taken from it": {both, unknown, `{"mode":"Observe"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stored := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{Mode: v1alpha1.ModeObserve}}
			Keep(stored, Of(stored))
			cut(stored)
			sent := stored.DeepCopy()
			stored.ManagedFields, sent.ManagedFields = entry(tc.stored), entry(tc.sent)
			Admit(sent, Sent(sent), stored)
			fleettest.Same(t, "kept", tc.kept, sent.Annotations[v1alpha1.SpecAnnotation])
		})
	}
}

// Other kinds are Karmada's in no version.
func TestOtherKinds(t *testing.T) {
	m := &v1alpha1.MultidimPodAutoscaler{Spec: v1alpha1.MultidimPodAutoscalerSpec{Mode: v1alpha1.ModePaused}}
	Admit(m, Sent(m), nil)
	fleettest.Same(t, "annotations", 0, len(m.Annotations))
}

// The annotation is a stranger's until it has been written here: it is bounded, and nonsense is no copy.
func TestCopiesOfStrangers(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "a list": "[]", "another shape": `{"mode":3}`,
		"too long":                 `{"mode":"` + strings.Repeat("x", longest) + `"}`,
		"fields that nobody knows": `{"later":1}`,
		// To parse it takes forever; the webhook is not asked about objects that are being deleted.
		"a harmful quantity":  `{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"averageValue":"1e-2147483648"}}}],"mode":"Paused"}`,
		"by another spelling": `{"METRICS":[{"resource":{"target":{"AverageValue":"1e-2147483648"}}}],"mode":"Paused"}`,
	} {
		f := &v1alpha1.FederatedHPA{}
		f.Annotations = map[string]string{v1alpha1.SpecAnnotation: text}
		if kept := Kept(f); len(kept) > 0 {
			t.Errorf("%s: kept %v", name, kept)
		}
	}
}

// A spec that is too large for its copy has none, and is not reported as one whose copy disagrees.
func TestLargeSpec(t *testing.T) {
	f := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{ClusterAffinity: &v1alpha1.ClusterAffinity{}}}
	for range longest / 10 {
		f.Spec.ClusterAffinity.ClusterNames = append(f.Spec.ClusterAffinity.ClusterNames, "a-cluster")
	}
	Admit(f, Sent(f), nil)
	if len(f.Annotations) != 0 || !Agrees(f) {
		t.Errorf("%d annotations, agrees %v", len(f.Annotations), Agrees(f))
	}
	f.Annotations = map[string]string{v1alpha1.SpecAnnotation: `{"mode":"Paused"}`} // from when it was smaller
	if Agrees(f) {
		t.Error("a copy stays that is of something else")
	}
}

// Whatever is written, in whatever order, by any schema: what was set and not removed is restored.
func FuzzWrites(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 0))
		wanted := Fields{} // by what people did
		stored := &v1alpha1.FederatedHPA{}
		Admit(stored, Sent(stored), nil)
		for range 1 + dice.IntN(8) {
			foreign := dice.IntN(2) == 0
			if foreign {
				cut(stored)
			}
			sent := stored.DeepCopy()
			if !foreign {
				edit(dice, sent, wanted)
			}
			if dice.IntN(3) == 0 {
				sent.Annotations = nil
			}
			Admit(sent, Sent(sent), stored)
			stored = sent
			if dice.IntN(3) == 0 { // the controller, or nobody
				Restore(stored, Lacking(stored))
			}
		}
		Restore(stored, Lacking(stored))
		fleettest.Same(t, "restored", asText(t, wanted), asText(t, Of(stored)))
	})
}

// edit sets a field, or removes one that is there: of one that is not, a person sees nothing to remove.
func edit(dice *rand.Rand, f *v1alpha1.FederatedHPA, wanted Fields) {
	switch dice.IntN(4) {
	case 0:
		f.Spec.Mode = v1alpha1.ModeObserve
		wanted["mode"] = "Observe"
	case 1:
		if f.Spec.Mode != "" {
			f.Spec.Mode = ""
			delete(wanted, "mode")
		}
	case 2:
		delay := int32(1 + dice.IntN(9))
		f.Spec.AutoscaleMultiClusterDelay = &delay
		wanted["autoscaleMultiClusterDelay"] = delay
	case 3:
		if f.Spec.AutoscaleMultiClusterDelay != nil {
			f.Spec.AutoscaleMultiClusterDelay = nil
			delete(wanted, "autoscaleMultiClusterDelay")
		}
	}
}

func asText(t *testing.T, fields Fields) string {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A list that somebody empties is there, without the webhook too: it is not lost.
func TestEmptiedListIsNotLost(t *testing.T) {
	affinity := func(names ...string) *v1alpha1.ClusterAffinity { return &v1alpha1.ClusterAffinity{ClusterNames: names} }
	distribution := func(all ...v1alpha1.TargetClusterAutoscalingPreference) *v1alpha1.ReplicaDistribution {
		return &v1alpha1.ReplicaDistribution{ClusterAutoscalingPreference: all}
	}
	full, empty := &v1alpha1.FederatedHPA{}, &v1alpha1.FederatedHPA{}
	full.Spec.ClusterTolerations, empty.Spec.ClusterTolerations = []corev1.Toleration{{Key: "k"}}, []corev1.Toleration{}
	full.Spec.ClusterAffinity, empty.Spec.ClusterAffinity = affinity("east"), affinity([]string{}...)
	full.Spec.ReplicaDistribution = distribution(v1alpha1.TargetClusterAutoscalingPreference{StaticWeight: new(int32(1))})
	empty.Spec.ReplicaDistribution = distribution([]v1alpha1.TargetClusterAutoscalingPreference{}...)
	cron, emptied := &v1alpha1.CronFederatedHPA{}, &v1alpha1.CronFederatedHPA{}
	cron.Spec.ClusterTolerations, emptied.Spec.ClusterTolerations = full.Spec.ClusterTolerations, empty.Spec.ClusterTolerations
	Keep(full, Of(full))
	empty.Annotations = full.Annotations
	Keep(cron, Of(cron))
	emptied.Annotations = cron.Annotations
	fleettest.Same(t, "lost", 0, len(Lacking(empty)))
	fleettest.Same(t, "lost of a CronFederatedHPA", 0, len(Lacking(emptied)))
}
