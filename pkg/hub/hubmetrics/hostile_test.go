// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"bytes"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"
)

// A server of the hub's metrics APIs, or a member behind it, may send a quantity that takes forever to read.
func TestQuantityThatTakesForEver(t *testing.T) {
	stand := resource.MustParse("1234567890123") // as long as the evil one
	usage := asProtobuf(t, metricsscheme.Scheme, &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: corev1.ResourceList{corev1.ResourceCPU: stand}}},
	}}})
	usage.body = bytes.ReplaceAll(usage.body, []byte(stand.String()), []byte("1e-2147483648"))
	tests := map[string]struct {
		metric  autoscalingv2.MetricSpec
		answers map[string]said
		want    string
	}{
		"usage in protobuf": {cpu(), map[string]said{podMetricsPath: usage}, "items[].containers[].usage.cpu"},
		"usage in JSON": {cpu(), map[string]said{podMetricsPath: asJSON(
			`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{"containers":[{"usage":{"cpu":"1e-2147483648"}}]}]}`)},
			"items[0].containers[0].usage.cpu"},
		"a custom metric": {rps(nil), map[string]said{groupPath: ofGroup("v1beta2"), rpsOfPodsPath: asJSON(
			`{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","items":[{"value":"1e-2147483648"}]}`)},
			"items[0].value"},
		"an external metric": {queue(nil), map[string]said{messagesPath: asJSON(
			`{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","items":[{"value":"1e-2147483648"}]}`)},
			"items[0].value"},
		"in YAML": {queue(nil), map[string]said{messagesPath: {kind: runtime.ContentTypeYAML, body: []byte(
			"kind: ExternalMetricValueList\napiVersion: external.metrics.k8s.io/v1beta1\nitems: [{value: '1e-2147483648'}]\n")}},
			"application/yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wantError(t, newHub(tc.answers).client(t).Ask(t.Context(), question(tc.metric)), tc.want)
		})
	}
}
