// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestPaths(t *testing.T) {
	handlers, _ := handlersOf(hubWith(t))
	want := []string{"/mutate-cronfederatedhpa", "/mutate-federatedhpa", "/mutate-multidimpodautoscaler", "/validate-cronfederatedhpa",
		"/validate-federatedhpa", "/validate-multidimpodautoscaler"}
	fleettest.Same(t, "paths", want, slices.Sorted(maps.Keys(handlers)))
}

// What the patch makes of the object that was sent is the object completed.
func TestMutation(t *testing.T) {
	tests := map[string]struct {
		path, object, want string
		warnings           []string
	}{
		"defaults": {
			path: "/mutate-federatedhpa",
			object: `{spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, maxReplicas: 3, metrics: [{type: Resource,
				resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}`,
			want: `{spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, minReplicas: 1, maxReplicas: 3,
				metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}`,
		},
		"fields of a later version stay": {
			path: "/mutate-federatedhpa",
			object: `{spec: {later: {a: [1]}, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1, later: 2}, minReplicas: 1,
				maxReplicas: 3, metrics: [{type: Pods, later: 3}]}, status: {later: 4}}`,
			want: `{spec: {later: {a: [1]}, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1, later: 2}, minReplicas: 1,
				maxReplicas: 3, metrics: [{type: Pods, later: 3}]}, status: {later: 4}}`,
		},
		"fractions, which the schema knows as text only": {
			path: "/mutate-federatedhpa",
			object: `{metadata: {}, spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, minReplicas: 1, maxReplicas: 3,
				metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 3}}}, {type: Pods,
					pods: {metric: {name: b}, target: {type: AverageValue, averageValue: 0.5}}}], clusterAffinity: {clusterNames: [east]}}}`,
			want: `{metadata: {annotations: {fleetscale.io/spec: '{"clusterAffinity":{"clusterNames":["east"]}}'}},
				spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, minReplicas: 1, maxReplicas: 3,
				metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 3}}}, {type: Pods,
					pods: {metric: {name: b}, target: {type: AverageValue, averageValue: 500m}}}], clusterAffinity: {clusterNames: [east]}}}`,
		},
		"an older word": {
			path: "/mutate-cronfederatedhpa",
			object: `{spec: {scaleTargetRef: {apiVersion: app/v1, kind: Deployment, name: web}, rules: [{ruleName: up, schedule: "0 8 * * *",
				targetReplicas: 3}]}}`,
			want: `{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, rules: [{ruleName: up, name: up,
				schedule: "0 8 * * *", targetReplicas: 3, suspend: false, successfulHistoryLimit: 3, failedHistoryLimit: 3}]}}`,
			warnings: []string{`spec.scaleTargetRef.apiVersion: "app/v1" does not exist, and was read as "apps/v1": write that`,
				"spec.rules: ruleName is an older word for name, and was copied there: write name"},
		},
		"two dimensions": {
			path: "/mutate-multidimpodautoscaler",
			object: `{spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, later: 1, goals: {metrics: [{type: Resource,
				resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}, constraints: {global: {maxReplicas: 3},
				container: [{name: app, requests: {maxAllowed: {cpu: 0.5}}}]}}}`,
			want: `{spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, later: 1, policy: {updateMode: "Off",
				minReplicas: 2, maxUnavailable: 25%, evictOn: Any, actAfterSeconds: 0, rollout: OneByOne}, scope: Fleet,
				goals: {utilizationBase: TemplateRequest, metrics: [{type: Resource, resource: {name: cpu, target: {type:
				Utilization, averageUtilization: 60}}}]}, constraints: {global: {minReplicas: 1, maxReplicas: 3}, container: [{name: app,
				mode: Auto, requests: {maxAllowed: {cpu: 500m}}, targetPercentile: {cpu: 90, memory: 90}, marginPercent: 15}]}}}`,
		},
		"no spec": {path: "/mutate-federatedhpa", object: `{metadata: {name: web}}`, want: `{metadata: {name: web}}`},
		"null":    {path: "/mutate-cronfederatedhpa", object: `{spec: null}`, want: `{spec: null}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handlers, _ := handlersOf(hubWith(t))
			response := ask(t, handlers[tc.path], review(t, tc.object, ""))
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			fleettest.Same(t, "warnings", tc.warnings, response.Warnings)
			patched := raw(t, tc.object).Raw
			if response.Patch != nil {
				patch, err := jsonpatch.DecodePatch(response.Patch)
				if err != nil {
					t.Fatal(err)
				}
				if patched, err = patch.Apply(patched); err != nil {
					t.Fatalf("the API server cannot apply %s: %v", response.Patch, err)
				}
			}
			fleettest.Same(t, "the object", decoded(t, raw(t, tc.want).Raw), decoded(t, patched))
		})
	}
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValidation(t *testing.T) {
	made := object[v1alpha1.FederatedHPA](t, fhpa("sized", "basket"))
	made.OwnerReferences = []metav1.OwnerReference{{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler",
		Name: "sized", Controller: new(true)}}
	hub := hubWith(t, object[v1alpha1.FederatedHPA](t, fhpa("first", "web")), hpa("shop", "stock", "api"), hpa("other", "stock", "cart"),
		object[v1alpha1.MultidimPodAutoscaler](t, mpa("sized", "basket")), made)
	broken := strings.NewReplacer("maxReplicas: 10", "maxReplicas: 0", "minReplicas: 1", "minReplicas: -1").Replace(fhpa("new", "cart"))
	const proposed = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: my-autoscaler}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: my-target}
  goals:
    metrics:
    - type: Resource
      resource:
      name: cpu
      target: {type: Utilization, averageUtilization: 60}
  constraints: {global: {minReplicas: 2, maxReplicas: 20}, containerControlledResources: [memory, cpu]}
`
	tests := map[string]struct {
		path, object, before string
		want                 string // empty: allowed
		wantCauses           int
		warnings             []string
	}{
		"a workload of its own": {path: "/validate-federatedhpa", object: fhpa("new", "cart")},
		"every fault in one answer": {path: "/validate-federatedhpa", object: broken, wantCauses: 2,
			want: `FederatedHPA.autoscaling.karmada.io "new" is invalid: [`},
		"another FederatedHPA has the workload": {path: "/validate-federatedhpa", object: fhpa("new", "web"), wantCauses: 1,
			want: `FederatedHPA.autoscaling.karmada.io "new" is invalid: spec.scaleTargetRef: Forbidden: Deployment "web" is scaled by FederatedHPA "first" already: delete that, or name another workload`},
		"a HorizontalPodAutoscaler has the workload": {path: "/validate-federatedhpa", object: fhpa("new", "api"), wantCauses: 1,
			want: `FederatedHPA.autoscaling.karmada.io "new" is invalid: spec.scaleTargetRef: Forbidden: Deployment "api" is scaled by HorizontalPodAutoscaler "stock" already: delete that, or name another workload`},
		"it has its own workload": {path: "/validate-federatedhpa", object: fhpa("first", "web")},
		"a fault that was there before": {path: "/validate-federatedhpa",
			object: strings.Replace(broken, "metadata: {", "metadata: {labels: {a: b}, ", 1), before: broken},
		"a rule for a FederatedHPA": {path: "/validate-cronfederatedhpa",
			object: cron("daily", "FederatedHPA", "first", "targetMaxReplicas: 20")},
		"a rule for a workload that something governs": {path: "/validate-cronfederatedhpa",
			object:   cron("daily", "Deployment", "web", "targetReplicas: 2"),
			warnings: []string{`spec.scaleTargetRef: Deployment "web" is scaled by FederatedHPA "first", and the rules will fail: name that FederatedHPA instead`}},
		"a rule for a MultidimPodAutoscaler": {path: "/validate-cronfederatedhpa",
			object:   cron("daily", "MultidimPodAutoscaler", "sized", "targetMinReplicas: 20"),
			warnings: []string{`spec.rules[0]: will fail: targetMinReplicas 20 exceeds maxReplicas 10 of MultidimPodAutoscaler "sized": raise that, or set targetMaxReplicas too`}},
		"a rule for one that is not there": {path: "/validate-cronfederatedhpa",
			object: cron("daily", "MultidimPodAutoscaler", "none", "targetMinReplicas: 20")},
		"a rule for the FederatedHPA of a MultidimPodAutoscaler": {path: "/validate-cronfederatedhpa",
			object: cron("daily", "FederatedHPA", "sized", "targetMinReplicas: 20"), wantCauses: 1,
			want: `CronFederatedHPA.autoscaling.karmada.io "daily" is invalid: spec.scaleTargetRef: Forbidden: FederatedHPA "sized" belongs to MultidimPodAutoscaler "sized", and the rules will fail: name that MultidimPodAutoscaler instead`},
		"a goal as a proposal had it": {path: "/validate-multidimpodautoscaler", object: proposed, wantCauses: 1,
			want: `MultidimPodAutoscaler.autoscaling.karmada.io "my-autoscaler" is invalid: spec.goals.metrics[0].resource: Required value: must populate information for the given metric source: write name and target below resource, not beside it`},
		"a rule that cannot work": {path: "/validate-cronfederatedhpa", object: cron("daily", "FederatedHPA", "first", "targetReplicas: 2"),
			wantCauses: 2, want: `CronFederatedHPA.autoscaling.karmada.io "daily" is invalid: [`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handlers, _ := handlersOf(hub)
			response := ask(t, handlers[tc.path], review(t, tc.object, tc.before))
			if response.Allowed != (tc.want == "") {
				t.Fatalf("allowed = %v: %v", response.Allowed, response.Result)
			}
			fleettest.Same(t, "warnings", tc.warnings, response.Warnings)
			if response.Allowed {
				return
			}
			result := response.Result
			if !strings.HasPrefix(result.Message, tc.want) {
				t.Errorf("message = %s\nwant %s", result.Message, tc.want)
			}
			if result.Code != http.StatusUnprocessableEntity || result.Reason != metav1.StatusReasonInvalid ||
				len(result.Details.Causes) != tc.wantCauses {
				t.Errorf("status = %v, want 422 Invalid with %d causes", result, tc.wantCauses)
			}
		})
	}
}

func TestWhatCanNotBeJudged(t *testing.T) {
	silent := interceptor.NewClient(hubWith(t).(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the cache is not filled")
		},
	})
	tests := map[string]struct {
		path, object, before string
		hub                  client.Reader
		code                 int32
		want                 string
	}{
		"no object": {"/mutate-federatedhpa", `{spec: 1}`, "", hubWith(t), 400, "reading the FederatedHPA: json: cannot unmarshal number"},
		"no object, too": {"/validate-cronfederatedhpa", `{spec: {rules: 1}}`, "", hubWith(t), 400,
			"reading the CronFederatedHPA: json: cannot unmarshal number"},
		"nothing before": {"/validate-federatedhpa", fhpa("a", "b"), `{spec: 1}`, hubWith(t), 400,
			"reading the FederatedHPA as it was: json: cannot unmarshal number"},
		"an unknown hub": {"/validate-federatedhpa", fhpa("a", "b"), "", silent, 503,
			`listing other autoscalers of "b" in namespace shop: the cache is not filled`},
		"an unknown hub, again": {"/validate-multidimpodautoscaler", mpa("a", "b"), "", silent, 503,
			`listing other autoscalers of "b" in namespace shop: the cache is not filled`},
		"an unknown hub.": {"/validate-cronfederatedhpa", cron("a", "Deployment", "b", "targetReplicas: 2"), "", silent, 503,
			`listing other autoscalers of "b" in namespace shop: the cache is not filled`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handlers, _ := handlersOf(tc.hub)
			response := ask(t, handlers[tc.path], review(t, tc.object, tc.before))
			if response.Allowed || response.Result.Code != tc.code || !strings.HasPrefix(response.Result.Message, tc.want) {
				t.Errorf("allowed = %v, %v; want %d and %s", response.Allowed, response.Result, tc.code, tc.want)
			}
		})
	}
}

type judgeFunc func(admission.Request) verdict

func (f judgeFunc) judge(_ context.Context, request admission.Request) verdict { return f(request) }

// A bug fails one admission, not the program.
func TestPanicsAreAnswered(t *testing.T) {
	bug := true
	handler := &admission.Webhook{Handler: observed{webhook: "validate", kind: "FederatedHPA", metrics: NewMetrics(prometheus.NewRegistry()),
		judge: judgeFunc(func(admission.Request) verdict {
			if bug {
				panic("here")
			}
			return allowed(nil)
		})}}
	response := ask(t, handler, review(t, fhpa("web", "web"), ""))
	if response.Allowed || response.Result.Code != 500 || response.Result.Message != "panic: here [recovered]" {
		t.Errorf("allowed = %v, %v; want 500", response.Allowed, response.Result)
	}
	bug = false
	if response := ask(t, handler, review(t, fhpa("web", "web"), "")); !response.Allowed {
		t.Errorf("refused after a panic: %v", response.Result)
	}
}

func TestMetrics(t *testing.T) {
	handlers, metrics := handlersOf(hubWith(t, hpa("shop", "stock", "api")))
	taken := strings.Replace(fhpa("new", "api"), "maxReplicas: 10", "maxReplicas: 0", 1)
	ask(t, handlers["/validate-federatedhpa"], review(t, taken, ""))
	ask(t, handlers["/validate-federatedhpa"], review(t, fhpa("new", "web"), fhpa("new", "web")))
	ask(t, handlers["/mutate-cronfederatedhpa"], review(t, `{spec: 1}`, ""))
	strange := review(t, fhpa("new", "web"), "")
	strange.Request.Operation = admissionv1.Operation("MADE-UP")
	ask(t, handlers["/mutate-federatedhpa"], strange)

	const wantRefusals = `
# HELP fleetscale_admission_refusals_total Admissions refused by a rule. One that several rules refuse counts for each.
# TYPE fleetscale_admission_refusals_total counter
fleetscale_admission_refusals_total{kind="FederatedHPA",operation="CREATE",rule="MaxBelowMin"} 1
fleetscale_admission_refusals_total{kind="FederatedHPA",operation="CREATE",rule="MaxReplicas"} 1
fleetscale_admission_refusals_total{kind="FederatedHPA",operation="CREATE",rule="TargetTaken"} 1
`
	if err := testutil.CollectAndCompare(metrics.refusals, strings.NewReader(wantRefusals)); err != nil {
		t.Error(err)
	}
	for _, labels := range [][]string{
		{"validate", "FederatedHPA", "CREATE", "refused"}, {"validate", "FederatedHPA", "UPDATE", "allowed"},
		{"mutate", "CronFederatedHPA", "CREATE", "failed"}, {"mutate", "FederatedHPA", "", "allowed"},
	} {
		if !metrics.duration.DeleteLabelValues(labels...) {
			t.Errorf("no admission was timed as %v", labels)
		}
	}
	if more := testutil.CollectAndCount(metrics.duration); more != 0 {
		t.Errorf("%d series more", more)
	}
	if faults, err := testutil.CollectAndLint(metrics.duration); err != nil || len(faults) > 0 {
		t.Errorf("promlint: %v %v", faults, err)
	}
}
