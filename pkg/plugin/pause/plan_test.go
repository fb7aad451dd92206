// SPDX-License-Identifier: Apache-2.0

package pause

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// patched is what a hub makes of a change; without one it is the object itself.
func patched(t *testing.T, u *unstructured.Unstructured, c Change) *unstructured.Unstructured {
	t.Helper()
	if c.Patch == nil {
		return u
	}
	before, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(c.Patch)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		t.Fatal(err)
	}
	return object(t, string(after))
}

// Each pause is taken back by a resume, to the last field: with defaults, as the hub stores objects.
func TestPauseAndResume(t *testing.T) {
	for name, tc := range map[string]struct {
		object         string
		act            Act
		after          string // what differs is told
		said, saidBack string
	}{
		"a FederatedHPA": {
			"{kind: FederatedHPA, metadata: {annotations: {}}, spec: {mode: Active}}", Pause,
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"mode":"Active"}'}}, spec: {mode: Paused}}`,
			"paused", "resumed, with mode Active",
		},
		"one that only observed": {
			"{kind: FederatedHPA, metadata: {annotations: {}}, spec: {mode: Observe}}", Pause,
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"mode":"Observe"}'}}, spec: {mode: Paused}}`,
			"paused", "resumed, with mode Observe",
		},
		"a MultidimPodAutoscaler in distributed mode": {
			"{kind: MultidimPodAutoscaler, metadata: {annotations: {a: b}}, spec: {mode: Active, " +
				"federatedHPAAssignment: {federatedHPAAssignmentType: Duplicated}}}",
			Pause,
			`{kind: MultidimPodAutoscaler, metadata: {annotations: {a: b, fleetscale.io/before-pause: '{"mode":"Active"}'}}, spec: {mode: Paused, ` +
				`federatedHPAAssignment: {federatedHPAAssignmentType: Duplicated}}}`,
			"paused; its HorizontalPodAutoscalers in the clusters go on scaling within their bounds", "resumed, with mode Active",
		},
		"scale-in": {
			"{kind: FederatedHPA, metadata: {annotations: {}}, spec: {behavior: {scaleDown: {selectPolicy: Min, stabilizationWindowSeconds: 3}}}}",
			PauseScaleDown,
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"scaleDown":"Min"}'}}, spec: ` +
				`{behavior: {scaleDown: {selectPolicy: Disabled, stabilizationWindowSeconds: 3}}}}`,
			"scale-in paused", "scale-in resumed",
		},
		"scale-in of goals": {
			"{kind: MultidimPodAutoscaler, metadata: {annotations: {}}, spec: {goals: {}, constraints: {global: {behavior: {scaleDown: {}}}}}}",
			PauseScaleDown,
			`{kind: MultidimPodAutoscaler, metadata: {annotations: {fleetscale.io/before-pause: '{"scaleDown":""}'}}, spec: {goals: {}, ` +
				`constraints: {global: {behavior: {scaleDown: {selectPolicy: Disabled}}}}}}`,
			"scale-in paused", "scale-in resumed",
		},
		"rules": {
			"{kind: CronFederatedHPA, metadata: {annotations: {}}, spec: {rules: " +
				"[{name: b, suspend: false}, {name: s, suspend: true}, {name: a, suspend: false}]}}",
			Pause,
			`{kind: CronFederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"rules":["a","b"]}'}}, spec: ` +
				`{rules: [{name: b, suspend: true}, {name: s, suspend: true}, {name: a, suspend: true}]}}`,
			"paused: rules b, a are suspended", "resumed: rules b, a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := object(t, tc.object)
			change, err := Plan(u.DeepCopy(), tc.act)
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "said", tc.said, change.Done)
			paused := patched(t, u, change)
			fleettest.Same(t, "paused", object(t, tc.after).Object, paused.Object)
			if again, err := Plan(paused.DeepCopy(), tc.act); err != nil || again.Patch != nil {
				t.Errorf("a second pause: %+v, %v", again, err)
			}
			back, err := Plan(paused.DeepCopy(), Resume)
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "said of the resume", tc.saidBack, back.Done)
			resumed := patched(t, paused, back)
			if diff := cmp.Diff(u.Object, resumed.Object); diff != "" {
				t.Errorf("resumed (-before +after):\n%s", diff)
			}
			if again, err := Plan(resumed, Resume); err != nil || again.Patch != nil {
				t.Errorf("a second resume: %+v, %v", again, err)
			}
		})
	}
}

func TestBothPausesAreTakenBackTogether(t *testing.T) {
	u := object(t, "{kind: FederatedHPA, metadata: {annotations: {}}, spec: {mode: Active, behavior: {scaleDown: {selectPolicy: Max}}}}")
	now := u
	for _, act := range []Act{PauseScaleDown, Pause, Resume} {
		change, err := Plan(now.DeepCopy(), act)
		if err != nil {
			t.Fatal(err)
		}
		now = patched(t, now, change)
	}
	if diff := cmp.Diff(u.Object, now.Object); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// What people set stays theirs, whatever was recorded before they did.
func TestResumeLeavesWhatOthersSet(t *testing.T) {
	for name, tc := range map[string]struct{ object, after, said string }{
		"a mode Paused that was there before scale-in was paused": {
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"scaleDown":"Min"}'}}, ` +
				`spec: {mode: Paused, behavior: {scaleDown: {selectPolicy: Disabled}}}}`,
			`{kind: FederatedHPA, metadata: {annotations: {}}, spec: {mode: Paused, behavior: {scaleDown: {selectPolicy: Min}}}}`,
			"scale-in resumed; its mode stays Paused, which others set: to have it act, resume it again",
		},
		"a policy set since": {
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"scaleDown":"Min"}'}}, ` +
				`spec: {mode: Active, behavior: {scaleDown: {selectPolicy: Max}}}}`,
			`{kind: FederatedHPA, metadata: {annotations: {}}, spec: {mode: Active, behavior: {scaleDown: {selectPolicy: Max}}}}`,
			"unchanged: it is not paused; the record of an earlier pause is removed",
		},
		"rules that run again": {
			`{kind: CronFederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"rules":["a"]}'}}, ` +
				`spec: {rules: [{name: a, suspend: false}]}}`,
			`{kind: CronFederatedHPA, metadata: {annotations: {}}, spec: {rules: [{name: a, suspend: false}]}}`,
			"unchanged: it is not paused by this command; rules that are suspended have spec.rules[].suspend; " +
				"the record of an earlier pause is removed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := object(t, tc.object)
			change, err := Plan(u.DeepCopy(), Resume)
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "said", tc.said, change.Done)
			fleettest.Same(t, "", object(t, tc.after).Object, patched(t, u, change).Object)
		})
	}
}

// A pause records again what it changes, and keeps nothing stale of an earlier one.
func TestPauseDropsStaleRecords(t *testing.T) {
	u := object(t, `{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"scaleDown":"Min"}'}}, `+
		`spec: {mode: Active, behavior: {scaleDown: {selectPolicy: Max}}}}`)
	change, err := Plan(u.DeepCopy(), Pause)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "record", `{"mode":"Active"}`, patched(t, u, change).GetAnnotations()[BeforeAnnotation])
}

func TestWhatStays(t *testing.T) {
	for name, tc := range map[string]struct {
		object    string
		act       Act
		said, err string
	}{
		"nothing to resume": {"{kind: FederatedHPA, metadata: {}, spec: {}}", Resume, "unchanged: it is not paused", ""},
		"paused by hand":    {"{kind: FederatedHPA, metadata: {}, spec: {mode: Paused}}", Resume, "resumed", ""},
		"paused without a mode": {
			`{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{"mode":""}'}}, spec: {mode: Paused}}`,
			Resume, "resumed", ""},
		"an observer": {"{kind: FederatedHPA, metadata: {}, spec: {mode: Observe}}", Resume,
			"unchanged: it is not paused, and only observes: to have it act, set spec.mode to Active", ""},
		"disabled by hand": {"{kind: FederatedHPA, metadata: {}, spec: {behavior: {scaleDown: {selectPolicy: Disabled}}}}", Resume,
			"unchanged: it is not paused by this command; that it does not scale in is written in its behavior: change " +
				"scaleDown.selectPolicy there", ""},
		"suspended by hand": {"{kind: CronFederatedHPA, metadata: {}, spec: {rules: [{name: a, suspend: true}]}}", Resume,
			"unchanged: it is not paused by this command; rules that are suspended have spec.rules[].suspend", ""},
		"scale-in of rules": {"{kind: CronFederatedHPA, metadata: {}, spec: {}}", PauseScaleDown, "",
			"--scale-down: rules have no behavior; name the autoscaler whose bounds they set"},
		"scale-in of sizes": {"{kind: MultidimPodAutoscaler, metadata: {}, spec: {}}", PauseScaleDown, "",
			"--scale-down: it has no goals, and so scales nothing in"},
		"what another made": {
			"{kind: FederatedHPA, metadata: {ownerReferences: [{kind: MultidimPodAutoscaler, name: web, controller: true}]}, spec: {}}",
			Pause, "", `MultidimPodAutoscaler "web" made it, and would set it back: name mpa/web`},
		"an annotation of somebody": {"{kind: FederatedHPA, metadata: {annotations: {fleetscale.io/before-pause: '{'}}, spec: {}}", Pause, "",
			"reading annotation fleetscale.io/before-pause: unexpected end of JSON input; correct it, or remove it and set the spec by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			change, err := Plan(object(t, tc.object), tc.act)
			if (err != nil) != (tc.err != "") || err != nil && err.Error() != tc.err {
				t.Errorf("error = %v, want %s", err, tc.err)
			}
			fleettest.Same(t, "said", tc.said, change.Done)
		})
	}
}

func TestParseTargets(t *testing.T) {
	fhpa := func(name string) Target { return Target{"FederatedHPA", "federatedhpas", name} }
	for name, tc := range map[string]struct {
		args []string
		want []Target
		err  string
	}{
		"kind/name":         {[]string{"fhpa/web", "mpa/x"}, []Target{fhpa("web"), {"MultidimPodAutoscaler", "multidimpodautoscalers", "x"}}, ""},
		"kind name name":    {[]string{"FederatedHPAs", "web", "api"}, []Target{fhpa("web"), fhpa("api")}, ""},
		"with the group":    {[]string{"federatedhpas.autoscaling.karmada.io/web"}, []Target{fhpa("web")}, ""},
		"a name only":       {[]string{"web"}, nil, `"web" is no kind of autoscaler: give KIND/NAME, with one of the kinds fhpa, mpa, cronfhpa`},
		"a kind only":       {[]string{"fhpa"}, nil, "no name: give KIND/NAME, with one of the kinds fhpa, mpa, cronfhpa"},
		"both ways":         {[]string{"fhpa", "web", "mpa/x"}, nil, `"mpa/x": give either KIND NAME... or KIND/NAME..., not both`},
		"both ways, turned": {[]string{"mpa/x", "web"}, nil, `"web": give either KIND NAME... or KIND/NAME..., not both`},
		"another kind":      {[]string{"deploy/web"}, nil, `"deploy/web": give KIND/NAME, with one of the kinds fhpa, mpa, cronfhpa`},
		"no name":           {[]string{"fhpa/"}, nil, `"fhpa/": give KIND/NAME, with one of the kinds fhpa, mpa, cronfhpa`},
	} {
		got, err := ParseTargets(tc.args)
		if (err != nil) != (tc.err != "") || err != nil && err.Error() != tc.err {
			t.Errorf("%s: error = %v, want %s", name, err, tc.err)
		}
		fleettest.Same(t, name, tc.want, got)
	}
}
