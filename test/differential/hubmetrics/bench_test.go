// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"fmt"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
)

// BenchmarkAsk asks for the cpu of 2000 Pods of two containers, in ten clusters, in both forms in which servers answer.
func BenchmarkAsk(b *testing.B) {
	var clusters []string
	for i := range 10 {
		clusters = append(clusters, fmt.Sprintf("cluster-%d", i))
	}
	for _, kind := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		h := &hub{answer: busyFleet(b, kind, clusters)}
		ours, err := h.ours()
		if err != nil {
			b.Fatal(err)
		}
		q := hubmetrics.Question{Namespace: "shop", Selector: labels.Everything(), Clusters: clusters, Metric: autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU},
		}}
		b.Run(kind+"/fleetscale", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m := ours.Ask(b.Context(), q); len(m.Pods) != len(clusters) {
					b.Fatal(len(m.Pods), m.Err)
				}
				h.take()
			}
		})
		theirs := h.theirs()
		b.Run(kind+"/kubernetes", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if o := ask(b.Context(), theirs, &q); len(o.Pods) != 2000 {
					b.Fatal(len(o.Pods), o.Err)
				}
				h.take()
			}
		})
	}
}

func busyFleet(b *testing.B, kind string, clusters []string) answer {
	b.Helper()
	list := &metricsv1beta1.PodMetricsList{}
	for i := range 2000 {
		list.Items = append(list.Items, metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-5d4f8c7b6d-%05d", i), Namespace: "shop",
				Labels:      map[string]string{"app": "web", "pod-template-hash": "5d4f8c7b6d", fleet.ClusterLabel: clusters[i%len(clusters)]},
				Annotations: map[string]string{"resource.karmada.io/query-from-cluster": clusters[i%len(clusters)]}},
			Timestamp: metav1.NewTime(time.Unix(1_777_000_000, 0)), Window: metav1.Duration{Duration: 15 * time.Second},
			Containers: []metricsv1beta1.ContainerMetrics{busy("app", i), busy("proxy", i)},
		})
	}
	scheme, err := newScheme()
	if err != nil {
		b.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), kind)
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, metricsv1beta1.SchemeGroupVersion), list)
	if err != nil {
		b.Fatal(err)
	}
	return answer{code: 200, kind: kind, body: string(body)}
}

func busy(name string, i int) metricsv1beta1.ContainerMetrics {
	return metricsv1beta1.ContainerMetrics{Name: name, Usage: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(12_345_678+i), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(int64(64<<20+i*4096), resource.BinarySI),
	}}
}
