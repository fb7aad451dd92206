// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/metrics"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

var mediaTypes = map[string]string{"json": "application/json", "protobuf": "application/vnd.kubernetes.protobuf"}

// discard is a client that reads nothing, so that only the answer is measured.
type discard struct {
	header http.Header
	bytes  int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }

func benchmarkHub(b *testing.B, pods int) *hub {
	const clusters = 2
	var members []*fakeMember
	for c := range clusters {
		m := &fakeMember{name: fmt.Sprintf("member-%d", c)}
		for i := range pods / clusters {
			m.pods = append(m.pods, pod("shop", fmt.Sprintf("web-%d", i), "web"))
		}
		members = append(members, m)
	}
	h := newHub(b, "", members...)
	h.adapter.budget = newBudget(1 << 30)
	return h
}

// BenchmarkAnswer is a list of warm pods, from the request to the last byte.
// BenchmarkEncoder beside it is the part of that which nobody can go below
// who encodes each answer anew.
func BenchmarkAnswer(b *testing.B) {
	for _, pods := range []int{200, 2_000, 20_000} {
		h := benchmarkHub(b, pods)
		for name, accept := range mediaTypes {
			b.Run(fmt.Sprintf("pods=%d/%s", pods, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "https://hub/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods", nil)
					r.Header.Set("Accept", accept)
					w := &discard{header: http.Header{}}
					h.handler.ServeHTTP(w, r)
					b.ReportMetric(float64(w.bytes), "bytes/answer")
				}
			})
		}
	}
}

func BenchmarkEncoder(b *testing.B) {
	_, codecs := newScheme()
	for _, pods := range []int{200, 2_000, 20_000} {
		h := benchmarkHub(b, pods)
		q := everything
		q.Namespace = "shop"
		items := inOrder(h.adapter.usage.Pods(b.Context(), q), question{Question: q, fields: fields.Everything()})
		list := &metrics.PodMetricsList{Items: make([]metrics.PodMetrics, len(items))}
		for i, item := range items {
			item.pod(&list.Items[i])
		}
		for name, mediaType := range mediaTypes {
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
			encoder := codecs.EncoderForVersion(info.Serializer, schema.GroupVersions{metricsv1beta1.SchemeGroupVersion})
			b.Run(fmt.Sprintf("pods=%d/%s", pods, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := encoder.Encode(list, io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
