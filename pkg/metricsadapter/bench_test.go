// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// discard is a client that reads nothing, so that only the answer is measured.
type discard struct {
	header http.Header
	bytes  int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }

// busyPod is one of a Deployment's, as metrics-server tells of it.
func busyPod(i int) metricsv1beta1.PodMetrics {
	p := pod("shop", fmt.Sprintf("web-5d4f8c7b6d-%05d", i), fmt.Sprintf("web-%d", i%100))
	p.Labels["app.kubernetes.io/part-of"], p.Labels["team"] = "shop", "payments"
	p.Labels["pod-template-hash"] = "5d4f8c7b6d"
	p.Timestamp = metav1.NewTime(measured.Add(time.Duration(i) * time.Millisecond))
	for c := range p.Containers {
		p.Containers[c].Usage[corev1.ResourceCPU] = *resource.NewScaledQuantity(int64(i*7919+c+1), resource.Nano)
		p.Containers[c].Usage[corev1.ResourceMemory] = *resource.NewQuantity(int64(i*4096+4096), resource.BinarySI)
	}
	return p
}

func benchmarkHub(b *testing.B, clusters, pods int) *hub {
	members := make([]*fakeMember, clusters)
	for c := range members {
		members[c] = &fakeMember{name: fmt.Sprintf("member-%d", c)}
	}
	for i := range pods {
		m := members[i%clusters]
		m.pods = append(m.pods, busyPod(i))
	}
	h := newHub(b, "", members...)
	h.adapter.budget = newBudget(1 << 30)
	return h
}

// answer is one list, from the request to the last byte.
func (h *hub) answer(headers map[string]string, query string) int {
	r := httptest.NewRequestWithContext(h.t.Context(), http.MethodGet, "https://hub/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"+query,
		nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := &discard{header: http.Header{}}
	h.handler.ServeHTTP(w, r)
	return w.bytes
}

// encoder returns what nobody can go below who makes objects of an answer and
// encodes them: the API server's encoder alone, on the list that is served.
func (h *hub) encoder(b *testing.B, mediaType string) func() {
	q := everything
	q.Namespace = "shop"
	answer := h.adapter.usage.Pods(b.Context(), q)
	items := inOrder(answer, answer.Coverage().Answered, question{Question: q, fields: fields.Everything()})
	group, err := h.adapter.group()
	if err != nil {
		b.Fatal(err)
	}
	versioned, err := group.Scheme.ConvertToVersion(podObjects(items), metricsv1beta1.SchemeGroupVersion)
	if err != nil {
		b.Fatal(err)
	}
	info, _ := runtime.SerializerInfoForMediaType(group.NegotiatedSerializer.SupportedMediaTypes(), mediaType)
	encoder := group.NegotiatedSerializer.EncoderForVersion(info.Serializer, metricsv1beta1.SchemeGroupVersion)
	return func() {
		if err := encoder.Encode(versioned, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswer measures the CPU time of whole answers, all that the process
// spends on them, beside that of the encoder alone on the same list, in turns:
// x-encoder is the median of their ratios, which a busy machine leaves as it is.
// Those with a selector are for one pod in a hundred, and measured against the
// encoder on all.
func BenchmarkAnswer(b *testing.B) {
	kinds := []struct {
		name, encoder, query string
		headers              map[string]string
	}{
		{"json", asJSON, "", map[string]string{"Accept": asJSON}},
		{"protobuf", asProtobuf, "", map[string]string{"Accept": asProtobuf}},
		{"json-gzip", asJSON, "", map[string]string{"Accept": asJSON, "Accept-Encoding": "gzip"}},
		{"selector", asProtobuf, query("labelSelector", "app=web-7"), map[string]string{"Accept": asProtobuf}},
		{"table", asJSON, "", map[string]string{"Accept": asTable}},
	}
	for _, size := range []struct{ pods, clusters int }{
		{200, 2}, {200, 20}, {200, 100}, {2_000, 2}, {2_000, 20}, {2_000, 100}, {20_000, 2}, {20_000, 20}, {20_000, 100},
	} {
		h := benchmarkHub(b, size.clusters, size.pods)
		for _, kind := range kinds {
			encode := h.encoder(b, kind.encoder)
			b.Run(fmt.Sprintf("pods=%d/clusters=%d/%s", size.pods, size.clusters, kind.name), func(b *testing.B) {
				var answers, ratios []float64
				bytes := 0
				for b.Loop() {
					start := cpuTime(b)
					bytes = h.answer(kind.headers, kind.query)
					answered := cpuTime(b)
					encode()
					answer := float64(answered - start)
					answers, ratios = append(answers, answer), append(ratios, answer/float64(cpuTime(b)-answered))
				}
				b.ReportMetric(0, "ns/op") // of both together
				b.ReportMetric(median(answers), "cpu-ns/answer")
				b.ReportMetric(median(ratios), "x-encoder")
				b.ReportMetric(float64(bytes), "bytes/answer")
			})
		}
	}
}

// BenchmarkWriters is the writing of one list of 2 000 pods, and nothing else of an answer.
func BenchmarkWriters(b *testing.B) {
	h := benchmarkHub(b, 2, 2_000)
	q := everything
	q.Namespace = "shop"
	answer := h.adapter.usage.Pods(b.Context(), q)
	items := inOrder(answer, answer.Coverage().Answered, question{Question: q, fields: fields.Everything()})
	group, err := h.adapter.group()
	if err != nil {
		b.Fatal(err)
	}
	all, err := newWriters(group.NegotiatedSerializer)
	if err != nil {
		b.Fatal(err)
	}
	list := &podList{items: items, writers: all}
	for _, form := range []string{asJSON, asProtobuf} {
		info, _ := runtime.SerializerInfoForMediaType(group.NegotiatedSerializer.SupportedMediaTypes(), form)
		id := group.NegotiatedSerializer.EncoderForVersion(info.Serializer, metricsv1beta1.SchemeGroupVersion).Identifier()
		b.Run(form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := list.CacheEncode(id, nil, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cpuTime returns what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
