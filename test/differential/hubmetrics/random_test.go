// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
)

type dice struct{ *rand.Rand }

func (d dice) oneIn(n int) bool { return d.IntN(n) == 0 }

func of[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

// newScheme knows what servers say.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	builder := runtime.NewSchemeBuilder(metricsv1beta1.AddToScheme, customv1beta1.AddToScheme, customv1beta2.AddToScheme,
		externalv1beta1.AddToScheme)
	return scheme, builder.AddToScheme(scheme)
}

var marked = []string{"east", "north", "west"}

// items are of Pods, each marked with a cluster, or none of them.
func (d dice) items(clusters []string) []item {
	items := make([]item, of(d, 0, 1, 1, 2, 5, 12))
	for i := range items {
		items[i].pod = fmt.Sprintf("web-%d", i)
		if len(clusters) > 1 {
			items[i].cluster = of(d, clusters...)
		} else if d.oneIn(10) {
			items[i].pod = "web-0" // twice
		}
	}
	return items
}

type item struct{ cluster, pod string }

func (d dice) quantity() resource.Quantity {
	return resource.MustParse(of(d, "0", "1", "100m", "250m", "1500001n", "1n", "1u", "0.0005", "12345678n", "1Ki", "64Mi", "3G", "1e3", "2E",
		"-5", "-1n",
		"9223372036854775807", "9223372036854775807k", "92233720368547758m"))
}

func (d dice) at() metav1.Time {
	if d.oneIn(10) {
		return metav1.Time{}
	}
	return metav1.NewTime(time.Unix(1_777_000_000+d.Int64N(100), 0))
}

// usage is a list of Pods' use.
func (d dice) usage(clusters []string) runtime.Object {
	list := &metricsv1beta1.PodMetricsList{}
	for _, item := range d.items(clusters) {
		pod := metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{Name: item.pod, Namespace: "shop", Labels: map[string]string{"app": "web"}},
			Timestamp:  d.at(), Window: metav1.Duration{Duration: time.Duration(d.IntN(60_000)) * time.Millisecond},
		}
		switch {
		case item.cluster == "":
		case d.oneIn(2):
			pod.Labels[fleet.ClusterLabel] = item.cluster
		default:
			pod.Annotations = map[string]string{"resource.karmada.io/query-from-cluster": item.cluster}
		}
		for range of(d, 0, 1, 1, 2, 3) {
			pod.Containers = append(pod.Containers, metricsv1beta1.ContainerMetrics{Name: of(d, "app", "app", "proxy", ""), Usage: d.used()})
		}
		list.Items = append(list.Items, pod)
	}
	return list
}

func (d dice) used() corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if !d.oneIn(6) {
			used[name] = d.quantity()
		}
	}
	return used
}

// values are a custom metric's, in the version that was asked for; of one object they are mostly one.
func (d dice) values(version string, ofPods bool, clusters []string) runtime.Object {
	items := d.items(clusters)
	if !ofPods && !d.oneIn(6) {
		items = []item{{pod: "web"}}
	}
	v1, v2 := &customv1beta1.MetricValueList{}, &customv1beta2.MetricValueList{}
	for _, item := range items {
		object := corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: item.pod}
		at, value := d.at(), d.quantity()
		window := of(d, nil, new(int64(0)), new(int64(20)), new(int64(86400)))
		selector := of(d, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "mail"}})
		if item.cluster != "" {
			selector = &metav1.LabelSelector{MatchLabels: map[string]string{fleet.ClusterLabel: item.cluster}}
		}
		v1.Items = append(v1.Items, customv1beta1.MetricValue{
			DescribedObject: object, MetricName: "rps", Timestamp: at, WindowSeconds: window, Value: value, Selector: selector,
		})
		v2.Items = append(v2.Items, customv1beta2.MetricValue{
			DescribedObject: object, Metric: customv1beta2.MetricIdentifier{Name: "rps", Selector: selector}, Timestamp: at, WindowSeconds: window,
			Value: value,
		})
	}
	if version == "v1beta1" {
		return v1
	}
	return v2
}

// series are an external metric's.
func (d dice) series() runtime.Object {
	list := &externalv1beta1.ExternalMetricValueList{}
	for range of(d, 0, 1, 1, 2, 5) {
		list.Items = append(list.Items, externalv1beta1.ExternalMetricValue{MetricName: "messages", Timestamp: d.at(), Value: d.quantity()})
	}
	return list
}

// says makes an answer of an object: itself, or something else in its place.
func (d dice) says(scheme *runtime.Scheme, object runtime.Object, clusters []string) answer {
	if !d.oneIn(3) {
		return d.encoded(scheme, http.StatusOK, object)
	}
	switch d.IntN(7) {
	case 0, 1, 2:
		code := of(d, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504)
		status := &metav1.Status{
			Status: metav1.StatusFailure, Code: int32(code),
			Message: of(d, "", "not known", "2 of 3 clusters did not answer: east (Timeout), west (Forbidden)"),
			Reason: of(d, "", metav1.StatusReasonNotFound, metav1.StatusReasonServiceUnavailable, metav1.StatusReasonForbidden,
				metav1.StatusReasonTooManyRequests),
		}
		a := d.encoded(scheme, code, status)
		if d.oneIn(4) {
			a.retryAfter = "0"
		}
		return a
	case 3: // another kind, with the same code or another
		other := of[runtime.Object](d, d.series(), d.usage(clusters), d.values("v1beta2", true, clusters), &metricsv1beta1.NodeMetricsList{},
			&customv1beta2.MetricValue{},
			&metav1.Status{Status: of(d, metav1.StatusSuccess, metav1.StatusFailure), Message: "a status"})
		return d.encoded(scheme, of(d, 200, 200, 200, 201, 204, 404, 503), other)
	case 4: // no object
		return answer{
			code: of(d, 200, 200, 200, 404, 429, 500, 503), kind: of(d, "application/json", "text/plain", "text/html; charset=utf-8",
				"application/vnd.kubernetes.protobuf", "", "a/b/c"),
			body: of(d, "", "{", "null", "[]", "{}", `"text"`, "<html>", "service unavailable", "k8s\x00", "k8s\x00\xff",
				`{"kind":"","apiVersion":""}`, `{"kind":"PodMetricsList"}`,
				`{"apiVersion":"metrics.k8s.io/v1beta1"}`, `{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v9"}`,
				`{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":{}}`, `{"kind":"Pod","apiVersion":"v1"}`,
				strings.Repeat("long ", 1000)),
		}
	case 5: // cut short
		a := d.encoded(scheme, http.StatusOK, object)
		a.body, a.breaks = a.body[:d.IntN(len(a.body)+1)], d.oneIn(3)
		return a
	default:
		return answer{refused: true}
	}
}

func (d dice) encoded(scheme *runtime.Scheme, code int, object runtime.Object) answer {
	kind := of(d, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf)
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), kind)
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, kinds[0].GroupVersion()), object)
	if err != nil {
		panic(err)
	}
	if kind == runtime.ContentTypeJSON && d.oneIn(2) {
		kind += "; charset=utf-8"
	}
	return answer{code: code, kind: kind, body: string(body)}
}

// groups returns what the hub serves of custom.metrics.k8s.io, the preferred first.
func (d dice) groups() []string {
	return of(d, []string{"v1beta2"}, []string{"v1beta1"}, []string{"v1beta2", "v1beta1"}, []string{"v1beta1", "v1beta2"},
		[]string{"v3", "v1beta1"}, []string{"v3"}, nil)
}

func group(versions []string) metav1.APIGroup {
	g := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: "custom.metrics.k8s.io"}
	for _, version := range versions {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + version, Version: version})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

func asJSON(object any) answer {
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return answer{code: http.StatusOK, kind: runtime.ContentTypeJSON, body: string(body)}
}

// answerTo returns what the hub says to the question.
func (d dice) answerTo(scheme *runtime.Scheme, h *hub, q *hubmetrics.Question) answer {
	switch q.Metric.Type {
	case autoscalingv2.PodsMetricSourceType, autoscalingv2.ObjectMetricSourceType:
		version := "v1beta2"
		if known := slices.DeleteFunc(slices.Clone(h.versions), func(v string) bool { return v == "v3" }); len(known) > 0 && !d.oneIn(10) {
			version = known[0]
		}
		return d.says(scheme, d.values(version, q.Metric.Pods != nil, q.Clusters), q.Clusters)
	case autoscalingv2.ExternalMetricSourceType:
		return d.says(scheme, d.series(), q.Clusters)
	default:
		return d.says(scheme, d.usage(q.Clusters), q.Clusters)
	}
}
