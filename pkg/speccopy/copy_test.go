// SPDX-License-Identifier: Apache-2.0

package speccopy

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

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
		"one is set again": {[]step{{"", distributed}, {"", observes}, {foreign, grows}, {"", distributed}}, both,
			[]string{"mode"}},
		"set again, and removed":            {[]step{{"", distributed}, {foreign, grows}, {"", distributed}, {"", central}}, "", nil},
		"what excludes it is set":           {[]step{{"", distributed}, {foreign, grows}, {"", divides}}, `{"replicaDistribution":{}}`, nil},
		"replaced without annotations":      {[]step{{"", distributed}, {"", wiped}}, `{"federatedHPAAssignment":{}}`, nil},
		"so under a foreign schema":         {[]step{{"", distributed}, {foreign, wiped}}, `{"federatedHPAAssignment":{}}`, []string{"federatedHPAAssignment"}},
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
					Admit(sent, Of(sent), nil)
				} else {
					Admit(sent, Of(sent), stored)
				}
				stored = sent
			}
			fleettest.Same(t, "kept", tc.kept, stored.Annotations[v1alpha1.SpecAnnotation])
			var lost []string
			for _, path := range Lost(Kept(stored), Of(stored)) {
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
	object := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{ScalingToZero: true, ScalingToZeroMode: v1alpha1.ScalingToZeroNative}}
	Admit(object, Of(object), nil)
	stored := object.DeepCopy()
	cut(stored)
	sent := stored.DeepCopy()
	fields := Of(sent)
	sent.Spec.ScalingToZeroMode = v1alpha1.ScalingToZeroController // by a default
	Admit(sent, fields, stored)
	fleettest.Same(t, "kept", Of(object), Kept(sent))
}

func TestRestore(t *testing.T) {
	f := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{
		HorizontalPodAutoscalerSpec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 7},
		ScalingToZero:               true, Mode: v1alpha1.ModePaused,
		FederatedHPAAssignment: &v1alpha1.FederatedHPAAssignment{
			DistributionOrder: v1alpha1.DistributionMinFirst, Rebalance: &v1alpha1.Rebalance{},
		},
	}}
	Keep(f, Of(f))
	whole := f.DeepCopy()
	f.Spec.Mode, f.Spec.FederatedHPAAssignment.Rebalance = "", nil // as an older schema of ours drops it
	lost := Lost(Kept(f), Of(f))
	fleettest.Same(t, "lost", []Path{{"federatedHPAAssignment", "rebalance"}, {"mode"}}, lost)
	Restore(f, lost)
	fleettest.Same(t, "restored", whole, f)
	cut(f)
	Restore(f, Lost(Kept(f), Of(f)))
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
	Admit(whole, Of(whole), nil)
	fleettest.Same(t, "kept", `{"rules":{"a.b":{"maxDelaySeconds":60},"d":{"maxDelaySeconds":90}}}`, whole.Annotations[v1alpha1.SpecAnnotation])
	if !Agrees(whole) {
		t.Error("the copy is not of what there is")
	}
	stored := of(rule("a.b", nil), rule("c", nil), rule("d", nil))
	stored.Annotations = whole.Annotations
	sent := of(rule("d", nil), rule("e", nil), rule("c", nil)) // one is removed, one is added
	Admit(sent, Of(sent), stored)
	lost := Lost(Kept(sent), Of(sent))
	fleettest.Same(t, "lost", []Path{{"rules", "d", "maxDelaySeconds"}}, lost)
	Restore(sent, lost)
	fleettest.Same(t, "restored", of(rule("d", new(int64(90))), rule("e", nil), rule("c", nil)).Spec, sent.Spec)

	plain := of(rule("c", nil))
	Admit(plain, Of(plain), nil)
	fleettest.Same(t, "annotations of one without fields of ours", 0, len(plain.Annotations))
}

// Other kinds are Karmada's in no version.
func TestOtherKinds(t *testing.T) {
	m := &v1alpha1.MultidimPodAutoscaler{Spec: v1alpha1.MultidimPodAutoscalerSpec{Mode: v1alpha1.ModePaused}}
	Admit(m, Of(m), nil)
	fleettest.Same(t, "annotations", 0, len(m.Annotations))
}

// The annotation is a stranger's until it has been written here: it is bounded, and nonsense is no copy.
func TestCopiesOfStrangers(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "a list": "[]", "another shape": `{"mode":3}`, "too long": `{"mode":"` + strings.Repeat("x", longest) + `"}`,
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
	Admit(f, Of(f), nil)
	if len(f.Annotations) != 0 || !Agrees(f) {
		t.Errorf("%d annotations, agrees %v", len(f.Annotations), Agrees(f))
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
		Admit(stored, Of(stored), nil)
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
			Admit(sent, Of(sent), stored)
			stored = sent
			if dice.IntN(3) == 0 { // the controller, or nobody
				Restore(stored, Lost(Kept(stored), Of(stored)))
			}
		}
		Restore(stored, Lost(Kept(stored), Of(stored)))
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
