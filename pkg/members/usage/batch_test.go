// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What members are asked.
var allPods, allNodes = key{resource: podsResource}, key{resource: nodesResource}

func TestDecodeGivesBackWhatTheMemberSaid(t *testing.T) {
	list := metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{
		pod("shop", "web-1", map[string]string{
			"app": "web", "apps.kubernetes.io/pod-index": "1", "statefulset.kubernetes.io/pod-name": "web-1", "empty": "",
		}),
		pod("shop", "web-0", nil),
		pod("bank", "vault", map[string]string{"long": strings.Repeat("v", 300)}),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "no-containers"}, Timestamp: metav1.Unix(1, 0)},
	}}
	asJSON, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for contentType, body := range map[string][]byte{
		contentTypeProtobuf:                 protobufOf(&list),
		contentTypeJSON + "; charset=utf-8": asJSON,
	} {
		t.Run(contentType, func(t *testing.T) {
			b, err := allPods.decodePods(body, contentType)
			if err != nil {
				t.Fatal(err)
			}
			var got []metricsv1beta1.PodMetrics
			for i := range b.Len() {
				got = append(got, versioned(b.At(i)))
			}
			items := list.Items
			want := []metricsv1beta1.PodMetrics{items[2], items[3], items[1], items[0]} // by namespace and name
			fleettest.Same(t, "", text(t, want), text(t, got))
		})
	}
}

func versioned(s Sample) metricsv1beta1.PodMetrics {
	var m metrics.PodMetrics
	s.Pod(&m, 0)
	out := metricsv1beta1.PodMetrics{ObjectMeta: m.ObjectMeta, Timestamp: m.Timestamp, Window: m.Window}
	if len(m.Labels) == 0 {
		out.Labels = nil
	}
	for _, c := range m.Containers {
		out.Containers = append(out.Containers, metricsv1beta1.ContainerMetrics{Name: c.Name, Usage: c.Usage})
	}
	return out
}

// text is the JSON that a client would see.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		contentType, body, want string
	}{
		"no content type": {"", "{}", `BadAnswer: decoding the answer: content type "": mime: no media type`},
		"another one":     {"text/html", "<p>", `BadAnswer: decoding the answer: content type "text/html" is neither protobuf nor JSON`},
		"bare protobuf":   {contentTypeProtobuf, "\x0a", `BadAnswer: decoding the answer: the protobuf lacks Kubernetes' leading bytes`},
		"half JSON":       {contentTypeJSON, "{", `BadAnswer: decoding the answer: unexpected end of JSON input`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := allNodes.decodeNodes([]byte(tc.body), tc.contentType)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
}

// What is read of a list before the fault is not taken for the list.
func TestDecodeRefusesAListWithOneBadItem(t *testing.T) {
	good := pods("shop", 1)
	raw := encoded(t, &metricsv1beta1.PodMetricsList{Items: good})
	bad := append(append(append([]byte{}, raw...), "\x12\x01\xff"...), raw...)
	for contentType, body := range map[string][]byte{
		contentTypeProtobuf: enveloped(bad),
		contentTypeJSON:     []byte(`{"items":[{"metadata":{"name":"web-0"}},{"metadata":7}]}`),
	} {
		if b, err := allPods.decodePods(body, contentType); err == nil || b != nil {
			t.Errorf("%s: %d pods, and error %v", contentType, b.Len(), err)
		}
	}
}

func TestNumberIsExactAndSaturates(t *testing.T) {
	for _, exact := range []string{
		"0", "1n", "123456789n", "-5m", "1500m", "65536Ki", "9223372036854775807", "10G", "1Ei", "0.5Ki",
	} {
		q := resource.MustParse(exact)
		value, scale := number(q)
		if back := resource.NewScaledQuantity(value, scale); back.Cmp(q) != 0 {
			t.Errorf("number(%s) = %d*10^%d, which is %s", exact, value, scale, back)
		}
	}
	if value, scale := number(resource.MustParse("12345678901234567890n")); value != 12345678901234568 || scale != resource.Micro {
		t.Errorf("12345678901234567890n = %d*10^%d, want it rounded up to the micro", value, scale)
	}
	for text, want := range map[string]int64{"9223372036854775808": math.MaxInt64, "1e30": math.MaxInt64, "-1e30": math.MinInt64} {
		if value, scale := number(resource.MustParse(text)); value != want || scale != 0 {
			t.Errorf("number(%s) = %d*10^%d, want %d", text, value, scale, want)
		}
	}
}

func FuzzQuantitySurvives(f *testing.F) {
	for _, seed := range []string{"1", "250m", "128Mi", "0.1", "1e3", "17n", "-3Ki"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := resource.ParseQuantity(text)
		if err != nil || q.AsDec().UnscaledBig().BitLen() > 62 {
			return // larger ones saturate; see TestNumberIsExactAndSaturates
		}
		q = resource.MustParse(text)
		s, values := newShape([]container{{"c", corev1.ResourceList{"cpu": q}}}, nil)
		for _, usage := range s.usages(values) {
			if got := usage.list()["cpu"]; got.Cmp(q) != 0 || got.Format != q.Format {
				t.Errorf("%q came back as %s (%s), want format %s", text, got.String(), got.Format, q.Format)
			}
		}
	})
}

func TestCompare(t *testing.T) {
	at := func(seconds int64, names ...string) *Batch {
		b := &batchBuilder{}
		for _, name := range names {
			b.add(&metav1.ObjectMeta{Name: name}, metav1.Unix(seconds, 0), metav1.Duration{}, nil)
		}
		return b.batch()
	}
	tests := map[string]struct {
		old, new *Batch
		want     comparison
	}{
		"nothing before":               {nil, at(1, "a"), comparison{}},
		"nothing now":                  {at(1, "a"), nil, comparison{}},
		"the same":                     {at(1, "a", "b"), at(1, "a", "b"), comparison{tells: true}},
		"a later time":                 {at(1, "a"), at(2, "a"), comparison{newer: true, tells: true}},
		"others altogether":            {at(1, "a"), at(2, "b"), comparison{}},
		"one came, and one went":       {at(1, "a", "b"), at(1, "b", "c"), comparison{tells: true}},
		"one stayed, and has new time": {at(1, "a", "m"), at(2, "m", "z"), comparison{newer: true, tells: true}},
	}
	for name, tc := range tests {
		if got := tc.new.compare(tc.old); got != tc.want {
			t.Errorf("%s: compare = %+v, want %+v", name, got, tc.want)
		}
	}
}

// statefulPods is a list as a member with many StatefulSets gives it: distinct
// names, labels that are unique to each pod, two containers.
func statefulPods(n int) *metricsv1beta1.PodMetricsList {
	list := &metricsv1beta1.PodMetricsList{}
	for i := range n {
		set := fmt.Sprintf("orders-%03d", i/50)
		name := fmt.Sprintf("%s-%d", set, i%50)
		p := pod("production", name, map[string]string{
			"app.kubernetes.io/name": set, "app.kubernetes.io/part-of": "shop", "team": "payments",
			"controller-revision-hash":     set + "-6d5f7c9b8",
			"apps.kubernetes.io/pod-index": fmt.Sprint(i % 50), "statefulset.kubernetes.io/pod-name": name,
		})
		p.Containers[0].Usage["cpu"] = *resource.NewScaledQuantity(int64(i*7919+1), resource.Nano)
		p.Containers[0].Usage["memory"] = *resource.NewQuantity(int64(i*4096+4096), resource.BinarySI)
		list.Items = append(list.Items, p)
	}
	return list
}

// singlePods is a list of Pods of Deployments, of one container each.
func singlePods(n int) *metricsv1beta1.PodMetricsList {
	list := &metricsv1beta1.PodMetricsList{}
	for i := range n {
		p := pod("production", fmt.Sprintf("web-6d5f7c9b8-%05d", i), map[string]string{"app": "web", "pod-template-hash": "6d5f7c9b8"})
		p.Containers = p.Containers[:1]
		list.Items = append(list.Items, p)
	}
	return list
}

// BenchmarkHeapPerPod reports the live heap of 100 000 pods after the way from
// a member's bytes to memory.
func BenchmarkHeapPerPod(b *testing.B) {
	const n = 100_000
	for name, list := range map[string]*metricsv1beta1.PodMetricsList{"containers=1": singlePods(n), "containers=2": statefulPods(n)} {
		b.Run(name, func(b *testing.B) {
			body := protobufOf(list)
			for b.Loop() {
				before := heaptest.InUse()
				batch, err := allPods.decodePods(body, contentTypeProtobuf)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(heaptest.InUse()-before)/n, "heap-B/pod")
				runtime.KeepAlive(batch)
			}
			runtime.KeepAlive(body)
		})
	}
}

// A batch is in memory for long: nothing in it is held ready for more.
func TestBatchesOccupyWhatTheyNeed(t *testing.T) {
	many := pod("shop", "many", nil)
	many.Containers = append(many.Containers, many.Containers...)
	mixed := &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{many,
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "none"}},
		singlePods(1).Items[0]}}
	mixed.Items = append(mixed.Items, pods("three", 3)...)
	nodes := &metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{
		{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Usage: many.Containers[0].Usage}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}},
	}}
	mixedBatch, err := allPods.decodePods(protobufOf(mixed), contentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	nodeBatch, err := allNodes.decodeNodes(protobufOf(nodes), contentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(mixed)
	if err != nil {
		t.Fatal(err)
	}
	jsonBatch, err := allPods.decodePods(asJSON, contentTypeJSON)
	if err != nil {
		t.Fatal(err)
	}
	strange := append(pods("shop", 2), append(pods("shop", 2), pods("bank", 50)...)...)
	unasked, err := key{resource: podsResource, namespace: "shop"}.decodePods(
		protobufOf(&metricsv1beta1.PodMetricsList{Items: strange}), contentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		batch           *Batch
		records, values int
	}{
		"pods": {mixedBatch, 6, 11 * 2}, "pods in JSON": {jsonBatch, 6, 11 * 2}, "nodes": {nodeBatch, 2, 2},
		"without what was not asked for": {unasked, 2, 4 * 2},
		"a namespace":                    {mixedBatch.inNamespace("three").own(), 3, 6 * 2},
		"one without pods":               {mixedBatch.inNamespace("bank").own(), 0, 0},
	} {
		if got := [...]int{len(tc.batch.records), cap(tc.batch.records), len(tc.batch.values), cap(tc.batch.values)}; got != [...]int{tc.records,
			tc.records, tc.values, tc.values} {
			t.Errorf("%s: length and capacity of records and values are %v, want %d and %d", name, got, tc.records, tc.values)
		}
	}
}

// A part lives longer than the whole that it was taken from.
func TestPartOfABatchSharesNothingWithIt(t *testing.T) {
	whole, err := allPods.decodePods(protobufOf(&metricsv1beta1.PodMetricsList{Items: append(pods("bank", 2), pods("shop", 2)...)}),
		contentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	part := whole.inNamespace("shop").own()
	before := versioned(part.At(1))
	clear(whole.records)
	clear(whole.values)
	if diff := cmp.Diff(text(t, before), text(t, versioned(part.At(1)))); diff != "" {
		t.Errorf("(-before +after the whole is gone):\n%s", diff)
	}
	if empty := (*Batch)(nil).inNamespace("shop"); empty.Len() != 0 {
		t.Errorf("%d pods of nothing", empty.Len())
	}
}

// TestHeapPerPod holds the figure that we promise.
func TestHeapPerPod(t *testing.T) {
	const n, promised = 20_000, 300
	body := protobufOf(statefulPods(n))
	heaptest.Check(t, func() error {
		before := heaptest.InUse()
		batch, err := allPods.decodePods(body, contentTypeProtobuf)
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.KeepAlive(batch)
		if perPod := float64(heaptest.InUse()-before) / n; perPod > promised {
			return fmt.Errorf("%.0f bytes of heap per pod, promised are %d", perPod, promised)
		}
		return nil
	})
	runtime.KeepAlive(body)
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{200, 2_000, 20_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			body := protobufOf(statefulPods(n))
			b.ReportAllocs()
			start := time.Now()
			for b.Loop() {
				if _, err := allPods.decodePods(body, contentTypeProtobuf); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
		})
	}
}
