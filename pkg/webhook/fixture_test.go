// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// hubWith is a cache that knows these objects.
func hubWith(t testing.TB, objects ...client.Object) client.Client {
	t.Helper()
	return hubtest.Indexed(t, AddToScheme, objects...)
}

func handlersOf(hub client.Reader) (map[string]http.Handler, *Metrics) {
	metrics := NewMetrics(prometheus.NewRegistry())
	kubernetes := &discovery{kinds: map[schema.GroupVersion][]string{
		{Version: "v1"}:                {"Pod", "ReplicationController"},
		{Group: "apps", Version: "v1"}: {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	}}
	return Handlers(hub, tenancy.Scope{}, NewKinds(kubernetes), nil, metrics), metrics
}

// review returns what the API server sends about an object given as YAML; before is
// empty when it is created.
func review(t testing.TB, object, before string) *admissionv1.AdmissionReview {
	t.Helper()
	request := &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Namespace: "shop", Object: raw(t, object),
		DryRun: new(true)}
	if before != "" {
		request.Operation, request.OldObject = admissionv1.Update, raw(t, before)
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request:  request,
	}
}

func raw(t testing.TB, text string) runtime.RawExtension {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// ask sends a review over HTTP, as the API server does.
func ask(t testing.TB, handler http.Handler, review *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || recorder.Code != http.StatusOK {
		t.Fatalf("status %d, %v: %s", recorder.Code, err, recorder.Body)
	}
	if answer.Response.UID != review.Request.UID {
		t.Errorf("uid %q, want that of the request", answer.Response.UID)
	}
	return answer.Response
}

// workload is a FederatedHPA's, as YAML, by its name.
func fhpa(name, workload string) string {
	return strings.NewReplacer("NAME", name, "WORKLOAD", workload).Replace(`
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: NAME, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: WORKLOAD}
  minReplicas: 1
  maxReplicas: 10
`)
}

func mpa(name, workload string) string {
	return strings.NewReplacer("NAME", name, "WORKLOAD", workload).Replace(`
apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: NAME, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: WORKLOAD}
  goals: {metrics: [{type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: 5}}}]}
  constraints: {global: {minReplicas: 1, maxReplicas: 10}}
`)
}

func object[T any](t testing.TB, text string) *T {
	t.Helper()
	o := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func cron(name, kind, target, rest string) string {
	apiVersion := "apps/v1"
	if kind != "Deployment" {
		apiVersion = "autoscaling.karmada.io/v1alpha1"
	}
	return strings.NewReplacer("NAME", name, "GROUP", apiVersion, "KIND", kind, "TARGET", target, "REST", rest).Replace(`
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: NAME, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: GROUP, kind: KIND, name: TARGET}
  rules: [{name: morning, schedule: "30 8 * * *", timeZone: Europe/Berlin, REST}]
`)
}

func hpa(namespace, name, workload string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: workload},
			MaxReplicas:    3,
		},
	}
}
