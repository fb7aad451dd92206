// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

const (
	v2Path      = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
	v2beta2Path = "/apis/autoscaling/v2beta2/namespaces/shop/horizontalpodautoscalers"
)

// autoscaler is one of ours.
func autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web",
		Labels: map[string]string{v1alpha1.ManagedByLabel: "7"}}}
	hpa.Spec.ScaleTargetRef = web
	hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas = new(int32(2)), 9
	hpa.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{Tolerance: new(
		resource.MustParse("0.2"))}}
	return hpa
}

// storedAs returns what a cluster answers of it, in the version.
func storedAs(version, uid string) string {
	return `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/` + version + `","metadata":{"namespace":"shop","name":"web","uid":"` +
		uid + `",
		"resourceVersion":"5","labels":{"fleetscale.io/managed-by":"7"},"managedFields":[{"manager":"m"}]},
		"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"minReplicas":2,"maxReplicas":9},
		"status":{"currentReplicas":3,"desiredReplicas":4}}`
}

// owner is the FederatedHPA that the autoscaler is for.
var owner = claims.Autoscaler{Kind: v1alpha1.FederatedHPAKind, Namespace: "shop", Name: "web", UID: "7", Adopts: true, Target: web}

// One that is there is changed as it was read, and one that is not is made as none is there.
func TestApply(t *testing.T) {
	const applied = `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/VERSION","metadata":{"name":"web","namespace":"shop",READ"labels":{"fleetscale.io/managed-by":"7"}},` +
		`"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"},"minReplicas":2,"maxReplicas":9,"behavior":{"scaleUp":{TOLERANCE}}}}`
	path := func(version string) string { return strings.Replace(v2Path, "v2", version, 1) }
	body := func(version, read, tolerance string) string {
		return strings.NewReplacer("VERSION", version, "READ", read, "TOLERANCE", tolerance).Replace(applied)
	}
	change := func(version, tolerance string) string {
		return "PATCH " + path(version) + "/web?fieldManager=fleetscale-federatedhpa&force=true\napplication/apply-patch+yaml\n" +
			body(version, `"uid":"u","resourceVersion":"5",`, tolerance)
	}
	creation := func(version, tolerance string) string {
		return "POST " + path(version) + "?fieldManager=fleetscale-federatedhpa\napplication/json\n" + body(version, "", tolerance)
	}
	read := func(version string) string { return "GET " + path(version) + "/web" }
	const undeclared = "failed to create typed patch object (shop/web; autoscaling/v2, Kind=HorizontalPodAutoscaler): " +
		".spec.behavior.scaleUp.tolerance: field not declared in schema"
	const said = `applying HorizontalPodAutoscaler "web": the cluster says `
	changes := []string{read("v2"), change("v2", `"tolerance":"200m"`)}
	makes := []string{read("v2"), creation("v2", `"tolerance":"200m"`)}
	tests := map[string]struct {
		versions []string
		there    bool
		code     int
		body     string
		requests []string
		err      string
	}{
		"changed":       {[]string{"v2", "v1"}, true, 200, storedAs("v2", "u"), changes, ""},
		"made":          {[]string{"v1", "v2beta2", "v2"}, false, 201, storedAs("v2", "u"), makes, ""},
		"in an old one": {[]string{"v1", "v2beta2"}, true, 200, storedAs("v2beta2", "u"), []string{read("v2beta2"), change("v2beta2", "")}, ""},
		"made in an old one": {[]string{"v1", "v2beta2"}, false, 201, storedAs("v2beta2", "u"),
			[]string{read("v2beta2"), creation("v2beta2", "")}, ""},
		"invalid there":     {[]string{"v2"}, true, 422, memberstest.Status(422, "Invalid", ""), changes, said + "Invalid"},
		"made by somebody":  {[]string{"v2"}, false, 409, memberstest.Status(409, "AlreadyExists", ""), makes, said + "AlreadyExists"},
		"always changed":    {[]string{"v2"}, true, 409, memberstest.Status(409, "Conflict", ""), slices.Repeat(changes, 5), said + "Conflict"},
		"forbidden":         {[]string{"v2"}, true, 403, memberstest.Status(403, "Forbidden", ""), changes, said + "Forbidden"},
		"forbidden to make": {[]string{"v2"}, false, 403, memberstest.Status(403, "Forbidden", ""), makes, said + "Forbidden"},
		"no namespace":      {[]string{"v2"}, false, 404, memberstest.Status(404, "NotFound", ""), makes, said + "NotFound"},
		"no tolerance": {[]string{"v2"}, true, 500, memberstest.StatusSaying(500, "", undeclared, ""),
			append(slices.Clone(changes), change("v2", "")),
			`applying HorizontalPodAutoscaler "web": ` + undeclared},
		"another kind":      {[]string{"v2"}, true, 200, `{"kind":"Deployment"}`, changes, "silence: BadAnswer"},
		"no JSON":           {[]string{"v2"}, false, 200, `<html>`, makes, "silence: BadAnswer"},
		"no usable version": {[]string{"v1", "v2beta1"}, false, 0, "", nil, "silence: UnsupportedAutoscalers"},
		"no such API":       {nil, false, 0, "", nil, "silence: UnsupportedAutoscalers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.versions...)
			for _, version := range []string{"v2", "v2beta2"} {
				s.Says("PATCH "+path(version)+"/web", tc.code, tc.body)
				s.Says("POST "+path(version), tc.code, tc.body)
				if tc.there {
					s.Says(read(version), 200, storedAs(version, "u"))
				}
			}
			stored, err := s.join(t).Apply(t.Context(), owner, autoscaler())
			fleettest.Same(t, "error", tc.err, memberstest.Told(err))
			fleettest.Same(t, "requests", tc.requests, s.Heard())
			if tc.err != "" {
				if stored != nil {
					t.Errorf("returned %v with an error", stored)
				}
				return
			}
			want := autoscaler()
			want.UID, want.ResourceVersion, want.Spec.Behavior = "u", "5", nil
			want.Status.CurrentReplicas, want.Status.DesiredReplicas = 3, 4
			fleettest.Same(t, "stored", want, stored)
		})
	}
}

// Somebody changed it between reading and writing: it is read again, and written as it is then, if it is still ours.
func TestApplyToWhatChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		then string
		err  string
	}{
		"by something else": {strings.Replace(storedAs("v2", "u"), `"resourceVersion":"5"`, `"resourceVersion":"6"`, 1), ""},
		"by who takes it": {strings.Replace(storedAs("v2", "u"), `"fleetscale.io/managed-by":"7"`, `"fleetscale.io/managed-by":"8"`, 1),
			`applying HorizontalPodAutoscaler "web": horizontalpodautoscalers.autoscaling "web" already exists`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+v2Path+"/web", 200, storedAs("v2", "u"))
			s.Then("GET "+v2Path+"/web", 200, tc.then)
			s.Says("PATCH "+v2Path+"/web", 409, memberstest.Status(409, "Conflict", ""))
			s.Then("PATCH "+v2Path+"/web", 200, storedAs("v2", "u"))
			_, err := s.join(t).Apply(t.Context(), owner, autoscaler())
			fleettest.Same(t, "error", tc.err, memberstest.Told(err))
			requests := s.Heard()
			if tc.err == "" && (len(requests) != 4 || !strings.Contains(requests[3], `"resourceVersion":"6"`)) ||
				tc.err != "" && len(requests) != 3 {
				t.Errorf("requests = %q", requests)
			}
		})
	}
}

// What was made, and not applied, becomes as if it had been: else what is left out later would stay.
func TestApplyToWhatWasMade(t *testing.T) {
	t.Parallel()
	made := strings.Replace(storedAs("v2", "u"), `"managedFields":[{"manager":"m"}]`, `"managedFields":[{"manager":"fleetscale-federatedhpa",`+
		`"operation":"Update","apiVersion":"autoscaling/v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:maxReplicas":{}}}}]`, 1)
	s := newServer(t, "v2")
	s.Says("GET "+v2Path+"/web", 200, made)
	s.Says("PATCH "+v2Path+"/web", 200, strings.Replace(storedAs("v2", "u"), `"resourceVersion":"5"`, `"resourceVersion":"6"`, 1))
	_, err := s.join(t).Apply(t.Context(), owner, autoscaler())
	fleettest.Same(t, "error", "", memberstest.Told(err))
	requests := s.Heard()
	if len(requests) != 3 {
		t.Fatalf("requests = %q", requests)
	}
	fleettest.Same(t, "what it becomes", "PATCH "+v2Path+"/web\napplication/json-patch+json\n"+
		`[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"fleetscale-federatedhpa","operation":"Apply",`+
		`"apiVersion":"autoscaling/v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:maxReplicas":{}}}}]},`+
		`{"op":"replace","path":"/metadata/resourceVersion","value":"5"}]`, requests[1])
	if !strings.Contains(requests[2], `"uid":"u","resourceVersion":"6"`) {
		t.Errorf("applied to what was read before: %s", requests[2])
	}
}

// What the cluster says tells what has to be done, by its code.
func TestApplyKeepsTheStatus(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+v2Path+"/web", 200, storedAs("v2", "u"))
	s.Says("PATCH "+v2Path+"/web", 403, memberstest.Status(403, "Forbidden", ""))
	if _, err := s.join(t).Apply(t.Context(), owner, autoscaler()); !apierrors.IsForbidden(err) ||
		fleet.Unanswered(err).Reason != fleet.ReasonForbidden {
		t.Errorf("error = %v", err)
	}
}

func TestApplyWithoutWords(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2beta2")
	hpa := autoscaler()
	hpa.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{}}}
	_, err := s.join(t).Apply(t.Context(), owner, hpa)
	var unsupported *memberhpa.Unsupported
	if !errors.As(err, &unsupported) {
		t.Errorf("error = %v, want that v2beta2 cannot say it", err)
	}
	fleettest.Same(t, "requests", []string{"GET " + v2beta2Path + "/web"}, s.Heard())
}

// One that somebody else made, perhaps since it was last seen that there is none, is not taken over.
func TestApplyToWhatIsThere(t *testing.T) {
	tests := map[string]struct {
		code    int
		there   string
		applies bool
		err     string
	}{
		"ours": {200, storedAs("v2", "u"), true, ""},
		"given to us": {200, strings.Replace(storedAs("v2", "u"), `"labels":{"fleetscale.io/managed-by":"7"}`,
			`"annotations":{"fleetscale.io/adopt-by":"web"}`, 1), true, ""},
		"another hub's": {200, strings.Replace(storedAs("v2", "u"), `"fleetscale.io/managed-by":"7"`, `"fleetscale.io/managed-by":"8"`, 1), false,
			`applying HorizontalPodAutoscaler "web": horizontalpodautoscalers.autoscaling "web" already exists`},
		"another hub's, and given to one of our name": {200, strings.Replace(storedAs("v2", "u"), `"labels":{"fleetscale.io/managed-by":"7"}`,
			`"labels":{"fleetscale.io/managed-by":"8"},"annotations":{"fleetscale.io/adopt-by":"web"}`, 1), false,
			`applying HorizontalPodAutoscaler "web": horizontalpodautoscalers.autoscaling "web" already exists`},
		"given to another": {200, strings.Replace(storedAs("v2", "u"), `"labels":{"fleetscale.io/managed-by":"7"}`,
			`"annotations":{"fleetscale.io/adopt-by":"shop"}`, 1), false,
			`applying HorizontalPodAutoscaler "web": horizontalpodautoscalers.autoscaling "web" already exists`},
		"somebody's": {200, strings.Replace(storedAs("v2", "u"), `managed-by`, `other`, 1), false,
			`applying HorizontalPodAutoscaler "web": horizontalpodautoscalers.autoscaling "web" already exists`},
		"cannot be seen": {403, memberstest.Status(403, "Forbidden", ""), false, `applying HorizontalPodAutoscaler "web": the cluster says Forbidden`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+v2Path+"/web", tc.code, tc.there)
			s.Says("PATCH "+v2Path+"/web", 200, storedAs("v2", "u"))
			_, err := s.join(t).Apply(t.Context(), owner, autoscaler())
			fleettest.Same(t, "error", tc.err, memberstest.Told(err))
			fleettest.Same(t, "whether it is applied", tc.applies, len(s.Heard()) == 2)
		})
	}
}

// One that becomes nobody's loses its label, and is not made again if it is gone.
func TestApplyWithoutLabel(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+v2Path+"/web", 200, storedAs("v2", "u"))
	s.Says("PATCH "+v2Path+"/web", 200, storedAs("v2", "u"))
	c, free := s.join(t), autoscaler()
	free.Labels = nil
	_, err := c.Apply(t.Context(), owner, free)
	fleettest.Same(t, "error", "", memberstest.Told(err))
	if requests := s.Heard(); len(requests) != 2 || strings.Contains(requests[1], "labels") {
		t.Errorf("requests = %q", requests)
	}
	s.Says("GET "+v2Path+"/web", 404, memberstest.Status(404, "NotFound", ""))
	if _, err := c.Apply(t.Context(), owner, free); !apierrors.IsNotFound(err) {
		t.Errorf("error of one that is gone = %v", err)
	}
	fleettest.Same(t, "requests", []string{"GET " + v2Path + "/web"}, s.Heard())
}

// The server drops what it does not know, on the second request.
func TestApplyWithoutTolerance(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+v2Path+"/web", 200, storedAs("v2", "u"))
	s.Says("PATCH "+v2Path+"/web", 500,
		memberstest.StatusSaying(500, "", ".spec.behavior.scaleDown.tolerance: field not declared in schema", ""))
	s.Then("PATCH "+v2Path+"/web", 200, storedAs("v2", "u"))
	hpa := autoscaler()
	hpa.Spec.Behavior.ScaleDown = &autoscalingv2.HPAScalingRules{Tolerance: new(resource.MustParse("0")),
		StabilizationWindowSeconds: new(int32(60))}
	before := hpa.DeepCopy()
	stored, err := s.join(t).Apply(t.Context(), owner, hpa)
	if err != nil || stored.UID != "u" {
		t.Fatalf("Apply() = %v, %v", stored, err)
	}
	fleettest.Same(t, "what was to be applied", before, hpa)
	requests := s.Heard()
	if len(requests) != 3 || strings.Contains(requests[2], "olerance") ||
		!strings.Contains(requests[2], `"scaleDown":{"stabilizationWindowSeconds":60}`) {
		t.Errorf("requests = %q", requests)
	}
}

func TestDelete(t *testing.T) {
	deletion := func(path string) string {
		return "DELETE " + path + "/web\napplication/json\n" + `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"}}`
	}
	type answers map[string]answer
	conflict := answer{409, memberstest.Status(409, "Conflict", "")}
	tests := map[string]struct {
		versions []string
		uid      string
		answers  answers
		requests []string
		err      string
	}{
		"there":         {[]string{"v2"}, "u", answers{"DELETE": {200, storedAs("v2", "u")}}, []string{deletion(v2Path)}, ""},
		"in an old one": {[]string{"v2beta2"}, "u", answers{"DELETE": {200, "{}"}}, []string{deletion(v2beta2Path)}, ""},
		"gone":          {[]string{"v2"}, "u", answers{"DELETE": {404, memberstest.Status(404, "NotFound", "")}}, []string{deletion(v2Path)}, ""},
		"another one of the name": {[]string{"v2"}, "u", answers{"DELETE": conflict, "GET": {200, storedAs("v2", "other")}},
			[]string{deletion(v2Path), "GET " + v2Path + "/web"}, ""},
		"gone meanwhile": {[]string{"v2"}, "u", answers{"DELETE": conflict, "GET": {404, memberstest.Status(404, "NotFound", "")}},
			[]string{deletion(v2Path), "GET " + v2Path + "/web"}, ""},
		"a conflict about itself": {[]string{"v2"}, "u", answers{"DELETE": conflict, "GET": {200, storedAs("v2", "u")}},
			[]string{deletion(v2Path), "GET " + v2Path + "/web"}, `deleting HorizontalPodAutoscaler "web": the cluster says Conflict`},
		"a conflict that cannot be examined": {[]string{"v2"}, "u", answers{"DELETE": conflict,
			"GET": {403, memberstest.Status(403, "Forbidden", "")}},
			[]string{deletion(v2Path), "GET " + v2Path + "/web"}, `deleting HorizontalPodAutoscaler "web": the cluster says Conflict`},
		"forbidden": {[]string{"v2"}, "u", answers{"DELETE": {403, memberstest.Status(403, "Forbidden", "")}}, []string{deletion(v2Path)},
			`deleting HorizontalPodAutoscaler "web": the cluster says Forbidden`},
		"never seen": {[]string{"v2"}, "", nil, nil, `deleting HorizontalPodAutoscaler "web": its uid is not known`},
		"no version": {[]string{"v1"}, "u", nil, nil, "silence: UnsupportedAutoscalers"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, tc.versions...)
			for verb, a := range tc.answers {
				s.Says(verb+" "+v2Path+"/web", a.code, a.body)
				s.Says(verb+" "+v2beta2Path+"/web", a.code, a.body)
			}
			hpa := autoscaler()
			hpa.UID = types.UID(tc.uid)
			fleettest.Same(t, "error", tc.err, memberstest.Told(s.join(t).Delete(t.Context(), hpa)))
			fleettest.Same(t, "requests", tc.requests, s.Heard())
		})
	}
}
