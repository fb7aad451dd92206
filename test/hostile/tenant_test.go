// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// Of a tenant: how many autoscalers, and how many ask at once.
const (
	autoscalers = 300
	askers      = 24
	reviewers   = 4
)

// tenant does what one may who has rights in the namespace mallory alone: asks, and writes autoscalers.
func (s *scene) tenant(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	flood := func(each func(n int)) {
		busy.Go(func() {
			measure.InIdleTime(func() {
				for n := 0; ctx.Err() == nil; n++ {
					each(n)
				}
			})
		})
	}
	for i := range askers {
		flood(func(n int) {
			patient, done := context.WithTimeout(ctx, deadline)
			defer done()
			// What a tenant gets matters to nobody; that it comes is enough.
			_, _, _, _ = get(patient, s.adapter.Client, s.adapter.URL+ofTenant(n*askers+i), stage.JSON)
		})
	}
	poison := poisoned(t)
	for range reviewers {
		flood(func(n int) {
			patient, done := context.WithTimeout(ctx, deadline)
			defer done()
			path := []string{"/mutate-federatedhpa", "/validate-federatedhpa"}[n%2]
			if answer, err := s.review(patient, path, mallory, poison); err == nil && answer.Allowed {
				t.Errorf("%s: a quantity that takes forever was allowed", path)
			}
		})
	}
	for n := range autoscalers {
		if err := s.hub.Put(ofTenants(n)); err != nil {
			t.Error(err)
		}
	}
	return func() {
		cancel()
		busy.Wait()
		for n := range autoscalers {
			s.remove(t, "/apis/"+v1alpha1.SchemeGroupVersion.String()+"/namespaces/"+mallory+"/federatedhpas/"+ofTenants(n).Name)
		}
	}
}

// ofTenant are questions of a namespace, each a new one.
func ofTenant(n int) string {
	const usage, custom, external = "/apis/metrics.k8s.io/v1beta1/namespaces/" + mallory,
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + mallory, "/apis/external.metrics.k8s.io/v1beta1/namespaces/" + mallory
	other := url.QueryEscape(fmt.Sprintf("a!=%d", n))
	all := []string{
		usage + "/pods?labelSelector=" + other,
		custom + "/pods/*/" + requests + "?labelSelector=" + other,
		custom + "/services/api/" + requests + "?metricLabelSelector=" + other,
		custom + fmt.Sprintf("/services/api/metric-%d", n),
		external + "/" + queue + "?labelSelector=" + other,
		external + fmt.Sprintf("/metric-%d", n),
		// Into the vault, by names with slashes and dots.
		custom + "/namespaces/" + vault + "/" + requests,
		custom + "/namespaces/*/" + requests,
		custom + "/services/..%2F..%2F" + vault + "%2Fservices%2Fapi/" + requests,
		custom + "/services/api/..%2F..%2F..%2F" + vault + "%2Fservices%2Fapi%2F" + requests,
		custom + "/services%2Fapi%2F..%2F..%2F..%2F" + vault + "%2Fservices/api/" + requests,
		custom + "/services/%2E%2E/" + requests,
		external + "/..%2F" + vault + "%2F" + queue,
		external + "/%2E%2E",
		usage + "/pods/..%2F..%2F" + vault + "%2Fpods%2Fweb-0",
	}
	return all[n%len(all)]
}

// poisoned is an autoscaler whose target takes forever to parse.
func poisoned(t *testing.T) []byte {
	t.Helper()
	o := ofTenants(0)
	o.Spec.Metrics[0].External.Target.AverageValue = new(resource.MustParse(memberstest.Stand))
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(body, []byte(memberstest.Stand), []byte(memberstest.Endless))
}

// ofTenants is one autoscaler of many, each with a question of its own.
func ofTenants(n int) *v1alpha1.FederatedHPA {
	o := autoscaler(fmt.Sprintf("mallory-%d", n), many)
	o.Namespace = mallory
	o.Spec.ScaleTargetRef.Name = "web"
	o.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: queue,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(n)}}},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: resource.NewQuantity(1, resource.DecimalSI)},
	}}}
	return o
}

// remove deletes an object of the hub.
func (s *scene) remove(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.hub.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.asHub.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("deleting %s: %s", path, resp.Status)
	}
}
