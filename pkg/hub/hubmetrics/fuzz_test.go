// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"
)

// FuzzAnswer: whatever a server says, there is an answer or an error, and never both.
func FuzzAnswer(f *testing.F) {
	types := []string{"application/json", runtime.ContentTypeProtobuf, "text/plain", ""}
	protobuf := encode(f, metricsscheme.Scheme, runtime.ContentTypeProtobuf,
		&metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{{
			ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Containers: []metricsv1beta1.ContainerMetrics{
				{Name: "app", Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}},
		}}})
	bodies := []string{usage, rates, messages, string(protobuf), "", "{", "null", "[]", `{"kind":"Status"}`,
		`{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{}]}`,
		`{"items":[{}]}`, `{"items":[{"containers":[{"usage":{"cpu":"9223372036854775807k"}}]}]}`, "k8s\x00", "k8s\x00\xff\xff\xff"}
	for i, body := range bodies {
		for code := range uint16(3) {
			f.Add([]byte(body), byte(i), 200+code*150, "answered=east")
		}
	}
	paths := []string{podMetricsPath, rpsOfPodsPath, "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/services/web/rps", messagesPath,
		groupPath}
	metrics := []autoscalingv2.MetricSpec{cpu(), containerMemory("app"), rps(nil), rpsOf("v1", "Service", "web", nil), queue(nil)}
	f.Fuzz(func(t *testing.T, body []byte, kind byte, code uint16, coverage string) {
		answer := said{code: 200 + int(code)%400, kind: types[int(kind)%len(types)], body: body, coverage: []string{coverage}}
		for _, path := range paths {
			hub := newHub(map[string]said{groupPath: ofGroup("v1beta2")})
			hub.says(path, answer)
			client := hub.client(t)
			for _, metric := range metrics {
				q := question(metric, "east", "west")
				q.ClustersOf = func(pod string) []string { return q.Clusters[:len(pod)%3] }
				got := client.Ask(t.Context(), q)
				if answered := got.Pods != nil || got.Values != nil; answered == (got.Err != nil) {
					t.Errorf("%s says %+v: an answer %v and an error %v", path, answer, answered, got.Err)
				}
			}
			uses, err := client.Uses(t.Context(), question(cpu(), "east", "west"))
			if answered := slices.ContainsFunc(uses, func(u ClusterUses) bool { return u.Outcome == Answered }); answered && err != nil ||
				len(uses) != 2 {
				t.Errorf("%s says %+v: the uses are %+v, and the error %v", path, answer, uses, err)
			}
		}
	})
}
