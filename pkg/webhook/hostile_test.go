// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const evilMetric = `"metrics":[{"type":"Pods","pods":{"metric":{"name":"rps"},"target":{"type":"AverageValue","averageValue":"1e-2147483648"}}}]`

// evilReview is one of a FederatedHPA with a quantity that takes forever to read.
func evilReview(t *testing.T) *admissionv1.AdmissionReview {
	t.Helper()
	r := review(t, fhpa("evil", "web"), "")
	r.Request.Object = poisoned(r.Request.Object)
	return r
}

func poisoned(object runtime.RawExtension) runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(strings.Replace(string(object.Raw), `"maxReplicas":10`, `"maxReplicas":10,`+evilMetric, 1))}
}

// What one tenant writes does not keep others from being answered.
func TestQuantityThatTakesForEver(t *testing.T) {
	handlers, _ := handlersOf(hubWith(t))
	tests := map[string]struct{ path, object string }{
		"mutated":   {"/mutate-federatedhpa", fhpa("good", "web")},
		"validated": {"/validate-federatedhpa", fhpa("good", "web")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handler, begin := handlers[tc.path], time.Now()
			const want = `reading the FederatedHPA: spec.metrics[0].pods.target.averageValue: the quantity "1e-2147483648" would take too long to read: ` +
				`give it an exponent from -999 to 999 and at most 256 characters`
			for range 60 {
				got := inTime(t, handler, evilReview(t))
				if got.Allowed || got.Result.Code != http.StatusBadRequest || got.Result.Message != want {
					t.Fatalf("answer %+v, want it refused with %s", got.Result, want)
				}
			}
			if got := inTime(t, handler, review(t, tc.object, "")); !got.Allowed {
				t.Errorf("a good one is refused: %+v", got.Result)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// inTime asks, and does not wait forever.
func inTime(t *testing.T, handler http.Handler, r *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	t.Helper()
	answered := make(chan *admissionv1.AdmissionResponse, 1)
	go func() { answered <- ask(t, handler, r) }()
	select {
	case got := <-answered:
		return got
	case <-time.After(5 * time.Second):
		t.Fatal("no answer after 5 s")
		return nil
	}
}

// A harmful object that was stored while there was no webhook can be fixed.
func TestStoredQuantityCanBeMended(t *testing.T) {
	handlers, _ := handlersOf(hubWith(t))
	r := review(t, fhpa("web", "web"), fhpa("web", "web"))
	r.Request.OldObject = poisoned(r.Request.OldObject)
	if !json.Valid(r.Request.OldObject.Raw) || !strings.Contains(string(r.Request.OldObject.Raw), "1e-2147483648") {
		t.Fatalf("the test is wrong: %s", r.Request.OldObject.Raw)
	}
	if got := inTime(t, handlers["/validate-federatedhpa"], r); !got.Allowed {
		t.Errorf("refused: %+v", got.Result)
	}
}
