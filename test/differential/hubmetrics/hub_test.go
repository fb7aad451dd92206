// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing/iotest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
)

// answer is what the hub says.
type answer struct {
	code       int
	kind, body string
	retryAfter string
	refused    bool // there is no connection
	breaks     bool // the connection breaks after the body
}

// hub says one thing to every question for metrics.
type hub struct {
	versions []string
	answer   answer

	mu    sync.Mutex
	asked []string // but for discovery
}

// serve reports whether it is a question for metrics.
func (h *hub) serve(w *httptest.ResponseRecorder, r *http.Request) (ofMetrics bool) {
	a := h.answer
	switch r.URL.Path {
	case "/api":
		a = asJSON(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		if len(h.versions) > 0 {
			list.Groups = append(list.Groups, group(h.versions))
		}
		a = asJSON(list)
	case "/apis/custom.metrics.k8s.io":
		if len(h.versions) == 0 {
			http.NotFound(w, r)
			return false
		}
		a = asJSON(group(h.versions))
	default:
		h.mu.Lock()
		h.asked = append(h.asked, r.URL.RequestURI())
		h.mu.Unlock()
		ofMetrics = true
	}
	w.Header()["Content-Type"] = nil // or it would be guessed
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	if a.retryAfter != "" {
		w.Header().Set("Retry-After", a.retryAfter)
	}
	w.WriteHeader(cmp.Or(a.code, http.StatusOK))
	if a.code != http.StatusNoContent {
		_, _ = w.WriteString(a.body)
	}
	return ofMetrics
}

// RoundTrip answers without a network.
func (h *hub) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	ofMetrics := h.serve(w, r)
	response := w.Result()
	switch {
	case ofMetrics && h.answer.refused:
		return nil, errors.New("connect: connection refused")
	case ofMetrics && h.answer.breaks:
		response.Body = io.NopCloser(io.MultiReader(response.Body, iotest.ErrReader(errors.New("the connection broke"))))
	}
	return response, nil
}

// take returns what was asked since, each question once.
func (h *hub) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, uri := range h.asked {
		if len(all) == 0 || all[len(all)-1] != uri {
			all = append(all, uri)
		}
	}
	h.asked = nil
	return strings.Join(all, "\n")
}

func (h *hub) config() *rest.Config {
	config := &rest.Config{Host: "http://hub", Transport: h, QPS: -1}
	config.ContentType = "application/vnd.kubernetes.protobuf" // as kube-controller-manager
	return config
}

func (h *hub) ours() (*hubmetrics.Client, error) {
	return hubmetrics.New(h.config(), kinds(), hubmetrics.NewMetrics(prometheus.NewRegistry()))
}

func (h *hub) theirs() metrics.MetricsClient {
	config := h.config()
	versions := custom_metrics.NewAvailableAPIsGetter(discovery.NewDiscoveryClientForConfigOrDie(config))
	return metrics.NewRESTMetricsClient(metricsclient.NewForConfigOrDie(config),
		custom_metrics.NewForConfig(config, kinds(), versions), external_metrics.NewForConfigOrDie(config))
}

// kinds returns those that the hub knows.
func kinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return mapper
}
