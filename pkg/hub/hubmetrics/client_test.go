// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"
	customscheme "k8s.io/metrics/pkg/client/custom_metrics/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

const usage = `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
 {"metadata":{"name":"web-0","namespace":"shop"},"timestamp":"2026-05-01T12:00:00Z","window":"15s","containers":[
  {"name":"app","usage":{"cpu":"100m","memory":"64Mi"}},{"name":"proxy","usage":{"cpu":"1500001n","memory":"1Ki"}}]},
 {"metadata":{"name":"web-1","namespace":"shop"},"timestamp":"2026-05-01T12:00:00Z","window":"30s","containers":[
  {"name":"app","usage":{"cpu":"1"}},{"name":"proxy","usage":{"memory":"1Ki"}}]},
 {"metadata":{"name":"web-2","namespace":"shop"},"timestamp":"2026-05-01T12:00:00Z","window":"15s","containers":[]}]}`

const rates = `{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":[
 {"describedObject":{"kind":"Pod","namespace":"shop","name":"web-0"},"metric":{"name":"rps"},
  "timestamp":"2026-05-01T12:00:00Z","windowSeconds":20,"value":"1500m"},
 {"describedObject":{"kind":"Pod","namespace":"shop","name":"web-1"},"metric":{"name":"rps"},"timestamp":"2026-05-01T12:00:00Z","value":"7"}]}`

const messages = `{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","items":[
 {"metricName":"messages","metricLabels":{"queue":"mail"},"timestamp":"2026-05-01T12:00:00Z","value":"90"},
 {"metricName":"messages","metricLabels":{"queue":"post"},"timestamp":"2026-05-01T12:00:00Z","value":"1500u"}]}`

func TestAsk(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "mail"}}
	custom := func(path, text string) map[string]said {
		return map[string]said{groupPath: ofGroup("v1beta2", "v1beta1"), path: asJSON(text)}
	}
	one := func(kind, name string) string {
		return `{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":[
 {"describedObject":{"kind":"` + kind + `","name":"` + name + `"},"metric":{"name":"rps"},"timestamp":"2026-05-01T12:00:00Z","value":"200500u"}]}`
	}
	const group = "/apis/custom.metrics.k8s.io"
	tests := map[string]struct {
		metric  autoscalingv2.MetricSpec
		answers map[string]said
		want    replicas.Metric
		asked   []string
	}{
		"a Pod's use is the sum of its containers', and that of a Pod that lacks one is not known": {
			cpu(), map[string]said{podMetricsPath: asJSON(usage)},
			replicas.Metric{Pods: samples{"east": {"web-0": sample(102, 15)}}},
			[]string{podMetricsPath + "?labelSelector=app%3Dweb"},
		},
		"of one container only that is read, and memory is in milli too": {
			containerMemory("proxy"), map[string]said{podMetricsPath: asJSON(usage)},
			replicas.Metric{Pods: samples{"east": {"web-0": sample(1_024_000, 15), "web-1": sample(1_024_000, 30)}}},
			[]string{podMetricsPath + "?labelSelector=app%3Dweb"},
		},
		"a container that no Pod has leaves all without a sample, which is no error": {
			containerMemory("other"), map[string]said{podMetricsPath: asJSON(usage)},
			replicas.Metric{Pods: samples{}},
			[]string{podMetricsPath + "?labelSelector=app%3Dweb"},
		},
		"a metric of Pods without a window was taken over a minute": {
			rps(nil), custom(rpsOfPodsPath, rates),
			replicas.Metric{Pods: samples{"east": {"web-0": sample(1500, 20), "web-1": sample(7000, 60)}}},
			[]string{group, group + "/v1beta2/namespaces/shop/pods/%2A/rps?labelSelector=app%3Dweb"},
		},
		"a metric of Pods with a selector of its own": {
			rps(selector), custom(rpsOfPodsPath, rates),
			replicas.Metric{Pods: samples{"east": {"web-0": sample(1500, 20), "web-1": sample(7000, 60)}}},
			[]string{group, group + "/v1beta2/namespaces/shop/pods/%2A/rps?labelSelector=app%3Dweb&metricLabelSelector=queue%3Dmail"},
		},
		"a metric of an object of the core": {
			rpsOf("v1", "Service", "web", nil), custom(group+"/v1beta2/namespaces/shop/services/web/rps", one("Service", "web")),
			replicas.Metric{Values: []int64{201}},
			[]string{group, group + "/v1beta2/namespaces/shop/services/web/rps"},
		},
		"a metric of an object of a group, whatever version is named": {
			rpsOf("apps/v1beta1", "Deployment", "web", selector),
			custom(group+"/v1beta2/namespaces/shop/deployments.apps/web/rps", one("Deployment", "web")),
			replicas.Metric{Values: []int64{201}},
			[]string{group, group + "/v1beta2/namespaces/shop/deployments.apps/web/rps?metricLabelSelector=queue%3Dmail"},
		},
		"a metric of an object that is in no namespace is asked for in one, as Kubernetes does": {
			rpsOf("v1", "Node", "n1", nil), custom(group+"/v1beta2/namespaces/shop/nodes/n1/rps", one("Node", "n1")),
			replicas.Metric{Values: []int64{201}},
			[]string{group, group + "/v1beta2/namespaces/shop/nodes/n1/rps"},
		},
		"a metric of a namespace is one of our own": {
			rpsOf("v1", "Namespace", "kube-system", nil), custom(group+"/v1beta2/namespaces/shop/metrics/rps", one("Namespace", "shop")),
			replicas.Metric{Values: []int64{201}},
			[]string{group, group + "/v1beta2/namespaces/shop/metrics/rps"},
		},
		"a Namespace of another group is an object like others": {
			rpsOf("fleets.example/v1", "Namespace", "web", nil), custom(group+"/v1beta2/namespaces/shop/namespaces.fleets.example/web/rps",
				one("Namespace", "web")),
			replicas.Metric{Values: []int64{201}},
			[]string{group, group + "/v1beta2/namespaces/shop/namespaces.fleets.example/web/rps"},
		},
		"the series of an external metric": {
			queue(selector), map[string]said{messagesPath: asJSON(messages)},
			replicas.Metric{Values: []int64{90_000, 2}},
			[]string{messagesPath + "?labelSelector=queue%3Dmail"},
		},
		"an empty selector means everything, and is not sent": {
			queue(&metav1.LabelSelector{}), map[string]said{messagesPath: asJSON(messages)},
			replicas.Metric{Values: []int64{90_000, 2}},
			[]string{messagesPath},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub := newHub(tc.answers)
			if diff := differ(tc.want, hub.client(t).Ask(t.Context(), question(tc.metric, "east"))); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			fleettest.Same(t, "asked", tc.asked, hub.questions())
		})
	}
}

func TestAskSaysWhyThereIsNoAnswer(t *testing.T) {
	custom := func(path string, s said) map[string]said {
		return map[string]said{groupPath: ofGroup("v1beta2"), path: s}
	}
	const service = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/services/web/rps"
	wrong := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	silent := asStatus(503, metav1.StatusReasonServiceUnavailable,
		`metric "rps" of services "web": 1 of 3 clusters did not answer: west (Timeout)`)
	tests := map[string]struct {
		metric  autoscalingv2.MetricSpec
		answers map[string]said
		want    string
	}{
		"usage, nobody serves it": {cpu(), nil,
			"unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"},
		"usage of no Pods": {cpu(),
			map[string]said{podMetricsPath: asJSON(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1"}`)},
			"no metrics returned from resource metrics API"},
		"usage, silent members": {cpu(), map[string]said{podMetricsPath: silent},
			`unable to fetch metrics from resource metrics API: metric "rps" of services "web": 1 of 3 clusters did not answer: west (Timeout)`},
		"usage, nothing to be read": {cpu(), map[string]said{podMetricsPath: {kind: "application/json"}},
			"unable to fetch metrics from resource metrics API: 0-length response with status code: 200 and content type: application/json"},
		"usage, a page of some sort": {cpu(), map[string]said{podMetricsPath: {kind: "text/html", body: []byte("<html>")}},
			"unable to fetch metrics from resource metrics API: serializer for text/html doesn't exist"},
		"custom, nobody serves it": {rps(nil), nil,
			"unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"},
		"custom, in versions unknown": {rps(nil), map[string]said{groupPath: ofGroup("v2", "v3")},
			"unable to fetch metrics from custom metrics API: no known available metric versions found"},
		"custom, versions not to be read": {rps(nil), map[string]said{groupPath: asJSON(`{"kind":"Status"}`)},
			`unable to fetch metrics from custom metrics API: reading the versions of custom.metrics.k8s.io: the answer is a "Status", not an APIGroup`},
		"custom, of no Pods": {rps(nil), custom(rpsOfPodsPath, asJSON(`{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2"}`)),
			"no metrics returned from custom metrics API"},
		"custom, not a list": {rps(nil), custom(rpsOfPodsPath, asJSON(`{"kind":"MetricValue","apiVersion":"custom.metrics.k8s.io/v1beta2"}`)),
			"unable to fetch metrics from custom metrics API: the custom metrics API server didn't return MetricValueList, the type is " +
				"*v1beta2.MetricValue"},
		"custom, silent members": {rpsOf("v1", "Service", "web", nil), custom(service, silent),
			`unable to fetch metrics from custom metrics API: metric "rps" of services "web": 1 of 3 clusters did not answer: west (Timeout)`},
		"custom, an object of no kind": {rpsOf("v1", "Shop", "web", nil), custom(service, silent),
			`unable to fetch metrics from custom metrics API: unable to map kind Shop to resource: no matches for /, Resource=Shop`},
		"custom, two values of an object": {rpsOf("v1", "Service", "web", nil), custom(service, asJSON(rates)),
			"unable to fetch metrics from custom metrics API: the custom metrics API server returned 2 results when we asked for exactly one"},
		"external, nobody serves it": {queue(nil), nil, "unable to fetch metrics from external metrics API: the server could not find the " +
			"requested resource (get messages.external.metrics.k8s.io)"},
		"external, no series": {queue(nil),
			map[string]said{messagesPath: asJSON(`{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1"}`)},
			"no metrics returned from external metrics API"},
		"a Pods metric's selector": {rps(wrong), nil, `"Near" is not a valid label selector operator`},
		"an Object metric's selector": {rpsOf("v1", "Service", "web", wrong), nil,
			`"Near" is not a valid label selector operator`},
		"an External metric's selector": {queue(wrong), nil, `"Near" is not a valid label selector operator`},
		"a type unknown":                {autoscalingv2.MetricSpec{Type: "Moon"}, nil, `unknown metric source type "Moon"`},
		"a type without its source": {autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType}, nil,
			`unknown metric source type "Pods"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := newHub(tc.answers).client(t).Ask(t.Context(), question(tc.metric, "east"))
			if diff := differ(replicas.Metric{Err: errors.New(tc.want)}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAskInTheVersionThatTheHubPrefers(t *testing.T) {
	const (
		old  = `{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","items":[{"describedObject":{"name":"web-0"},"metricName":"rps","timestamp":"2026-05-01T12:00:00Z","window":20,"value":"3","selector":{"matchLabels":{"fleetscale.io/cluster":"west"}}}]}`
		path = "/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/*/rps"
	)
	hub := newHub(map[string]said{groupPath: ofGroup("v1beta1", "v1beta2"), path: asJSON(old)})
	client := hub.client(t)
	for range 3 {
		want := replicas.Metric{Pods: samples{"west": {"web-0": sample(3000, 20)}}}
		if diff := differ(want, client.Ask(t.Context(), question(rps(nil), "east", "west"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	const asked = "/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/%2A/rps?labelSelector=app%3Dweb"
	fleettest.Same(t, "asked", []string{groupPath, asked, asked, asked}, hub.questions())
}

func TestAskReadsProtobuf(t *testing.T) {
	at := metav1.NewTime(noon)
	use := &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Timestamp: at, Window: metav1.Duration{Duration: 15 * time.Second},
		Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}},
	}}}
	seconds := int64(20)
	rate := &customv1beta1.MetricValueList{Items: []customv1beta1.MetricValue{{
		DescribedObject: corev1.ObjectReference{Name: "web-0"}, Timestamp: at, WindowSeconds: &seconds, Value: resource.MustParse("4"),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{fleet.ClusterLabel: "west"}},
	}}}
	hub := newHub(map[string]said{
		podMetricsPath: asProtobuf(t, metricsscheme.Scheme, use),
		groupPath:      ofGroup("v1beta1"),
		"/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/*/rps": asProtobuf(t, customscheme.Scheme, rate),
	})
	client := hub.client(t)
	if diff := differ(replicas.Metric{Pods: samples{"east": {"web-0": sample(250, 15)}}},
		client.Ask(t.Context(), question(cpu(), "east"))); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if diff := differ(replicas.Metric{Pods: samples{"west": {"web-0": sample(4000, 20)}}},
		client.Ask(t.Context(), question(rps(nil), "east"))); diff != "" {
		t.Errorf("custom (-want +got):\n%s", diff)
	}
	misnamed := asProtobuf(t, metricsscheme.Scheme, use)
	misnamed.kind = "application/json"
	hub.says(podMetricsPath, misnamed)
	wantError(t, client.Ask(t.Context(), question(cpu(), "east")),
		"unable to fetch metrics from resource metrics API: couldn't get version/kind; json parse error")
	for _, r := range hub.asked {
		if accept := r.Header.Get("Accept"); r.URL.Path != groupPath && accept != "application/vnd.kubernetes.protobuf,application/json" {
			t.Errorf("%s: Accept is %q", r.URL.Path, accept)
		}
	}
}

func TestEveryQuestionAllowsAPartByItsHeaderOnly(t *testing.T) {
	hub := newHub(map[string]said{groupPath: ofGroup("v1beta2")})
	client := hub.client(t)
	for _, metric := range []autoscalingv2.MetricSpec{cpu(), containerMemory("app"), rps(nil), rpsOf("v1", "Service", "web", nil),
		queue(nil)} {
		client.Ask(t.Context(), question(metric, "east"))
	}
	if len(hub.asked) != 6 {
		t.Fatalf("asked %d times: %v", len(hub.asked), hub.questions())
	}
	for _, r := range hub.asked {
		if got := r.Header.Values(fleet.PartialHeader); !cmp.Equal(got, []string{"allow"}) {
			t.Errorf("%s: %s is %q", r.URL, fleet.PartialHeader, got)
		}
		if strings.Contains(r.URL.RawQuery, "fleetscale.io") {
			t.Errorf("another server would take a key of ours for a label: %s", r.URL)
		}
	}
}

func TestCoverageIsToldWhateverTheAnswer(t *testing.T) {
	covered := func(s said, coverage ...string) said {
		s.coverage = coverage
		return s
	}
	some := fleet.Coverage{
		Answered: []string{"east"}, Absent: []string{"east"},
		Silent: []fleet.SilentMember{{Cluster: "west", Silence: fleet.Silence{Reason: fleet.ReasonTimeout}}}, Covered: []string{"west"},
	}
	values := []int64{90_000, 2}
	tests := map[string]struct {
		said said
		want replicas.Metric
	}{
		"the server knows of no fleet": {asJSON(messages), replicas.Metric{Values: values}},
		"a part": {covered(asJSON(messages), "answered=east;absent=east;silent=west:Timeout;covered=west"),
			replicas.Metric{Values: values, Coverage: &some}},
		"nobody was asked": {covered(asJSON(messages), ""), replicas.Metric{Values: values, Coverage: &fleet.Coverage{}}},
		"no answer": {covered(asStatus(503, "", "west is silent"), "answered=east;silent=west:Timeout"),
			replicas.Metric{
				Err:      errors.New("unable to fetch metrics from external metrics API: west is silent"),
				Coverage: &fleet.Coverage{Answered: []string{"east"}, Silent: some.Silent},
			}},
		"no series": {covered(asJSON(`{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1"}`), "answered=east"),
			replicas.Metric{
				Err:      errors.New("no metrics returned from external metrics API"),
				Coverage: &fleet.Coverage{Answered: []string{"east"}},
			}},
		"what cannot be read is not the whole": {covered(asJSON(messages), "who knows"),
			replicas.Metric{Err: errors.New(
				`unable to fetch metrics from external metrics API: parsing coverage "who knows": "who knows" is not of the form key=name,…`)}},
		"nor is what is said twice": {covered(asJSON(messages), "answered=east", "answered=west"),
			replicas.Metric{Err: errors.New(
				`unable to fetch metrics from external metrics API: parsing coverage: the header Fleetscale-Coverage is there 2 times`)}},
		"of an error and a coverage that cannot be read the error is said": {covered(asStatus(503, "", "west is silent"), "who knows"),
			replicas.Metric{Err: errors.New("unable to fetch metrics from external metrics API: west is silent")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub := newHub(map[string]said{messagesPath: tc.said})
			if diff := differ(tc.want, hub.client(t).Ask(t.Context(), question(queue(nil), "east"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoverageOfEveryAPI(t *testing.T) {
	const service = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/services/web/rps"
	hub := newHub(map[string]said{groupPath: ofGroup("v1beta2")})
	for path, body := range map[string]string{podMetricsPath: usage, rpsOfPodsPath: rates, service: rates, messagesPath: messages} {
		answer := asJSON(body)
		answer.coverage = []string{"answered=east"}
		hub.answers[path] = answer
	}
	client := hub.client(t)
	for _, metric := range []autoscalingv2.MetricSpec{cpu(), containerMemory("app"), rps(nil), rpsOf("v1", "Service", "web", nil),
		queue(nil)} {
		got := client.Ask(t.Context(), question(metric, "east"))
		fleettest.Same(t, string(metric.Type), &fleet.Coverage{Answered: []string{"east"}}, got.Coverage)
	}
}

func TestAskDoesNotTryAgain(t *testing.T) {
	busy := asStatus(429, metav1.StatusReasonTooManyRequests, "answers of 64 MiB are being written already")
	busy.header = map[string]string{"Retry-After": "3600"}
	hub := newHub(map[string]said{podMetricsPath: busy})
	got := hub.client(t).Ask(t.Context(), question(cpu(), "east"))
	wantError(t, got, "unable to fetch metrics from resource metrics API: answers of 64 MiB are being written already")
	if !apierrors.IsTooManyRequests(got.Err) {
		t.Errorf("the error does not hold the server's: %#v", got.Err)
	}
	if n := len(hub.questions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	for name, hanging := range map[string]string{"usage": podMetricsPath, "versions": groupPath, "custom": rpsOfPodsPath,
		"external": messagesPath} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := newHub(map[string]said{groupPath: ofGroup("v1beta2")})
				hub.says(hanging, said{hangs: true})
				client := hub.client(t)
				metric := map[string]autoscalingv2.MetricSpec{podMetricsPath: cpu(), messagesPath: queue(nil)}[hanging]
				if metric.Type == "" {
					metric = rps(nil)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				got := client.Ask(ctx, question(metric, "east"))
				wantError(t, got, "context deadline exceeded")
				if took := time.Since(began); took != 3*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestOverTheWire holds what a network and a real server may change: escaping, compression, headers.
func TestOverTheWire(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.RequestURI())
		mu.Unlock()
		w.Header().Set(fleet.CoverageHeader, "answered=east")
		switch r.URL.Path {
		case groupPath:
			ofGroup("v1beta2").write(w)
		case rpsOfPodsPath:
			asJSON(rates).write(w)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	client, err := New(&rest.Config{Host: server.URL, QPS: -1}, kinds(), NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	var askers sync.WaitGroup
	for range 20 {
		askers.Go(func() {
			want := replicas.Metric{
				Pods:     samples{"east": {"web-0": sample(1500, 20), "web-1": sample(7000, 60)}},
				Coverage: &fleet.Coverage{Answered: []string{"east"}},
			}
			if diff := differ(want, client.Ask(t.Context(), question(rps(nil), "east"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	askers.Wait()
	if n := strings.Count(strings.Join(asked, "\n")+"\n", groupPath+"\n"); n != 1 {
		t.Errorf("discovered the version %d times: %s", n, strconv.Itoa(len(asked)))
	}
}

func TestNewRefusesAHubThatItCanNotAsk(t *testing.T) {
	_, err := New(&rest.Config{Host: "http://hub", QPS: 5, Burst: 0, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no certificate")}},
		kinds(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "connecting to the hub's metrics APIs: ") {
		t.Errorf("got error %v", err)
	}
}
