// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// randomList is of Pods with whatever metadata there may be.
func randomList(d *rand.Rand) *metricsv1beta1.PodMetricsList {
	list := &metricsv1beta1.PodMetricsList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for i := range 1 + d.IntN(4) {
		pod := metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{
				Name: "web-" + strconv.Itoa(i), Namespace: "shop", Generation: d.Int64N(3), DeletionGracePeriodSeconds: new(int64(30)),
				CreationTimestamp: metav1.NewTime(noon), Labels: map[string]string{"app": "web", "": "", "a": fleet.ClusterLabel},
				OwnerReferences: []metav1.OwnerReference{{Name: "web"}},
			},
			Window: metav1.Duration{Duration: time.Duration(d.IntN(100)) * time.Second},
		}
		if d.IntN(4) > 0 {
			pod.Timestamp = metav1.NewTime(noon.Add(time.Duration(d.IntN(1000)) * time.Second))
		}
		if d.IntN(2) > 0 {
			pod.Labels[fleet.ClusterLabel] = "east"
		}
		if d.IntN(2) > 0 {
			pod.Annotations = map[string]string{queryFromAnnotation: "west", "b": queryFromAnnotation}
		}
		for range d.IntN(4) {
			used := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
			if d.IntN(5) > 0 {
				used[corev1.ResourceCPU] = *resource.NewScaledQuantity(d.Int64N(1<<40), resource.Nano)
			}
			if d.IntN(5) > 0 {
				used[corev1.ResourceMemory] = *resource.NewQuantity(d.Int64N(1<<40)-1<<10, resource.BinarySI)
			}
			name := []string{"app", "proxy", ""}[d.IntN(3)]
			pod.Containers = append(pod.Containers, metricsv1beta1.ContainerMetrics{Name: name, Usage: used})
		}
		list.Items = append(list.Items, pod)
	}
	return list
}

// decoded returns what comes of a list by way of its objects.
func decoded(list *metricsv1beta1.PodMetricsList, name corev1.ResourceName, container string) []podUse {
	var pods []podUse
	for i := range list.Items {
		pods = append(pods, useOf(&list.Items[i], name, container))
	}
	return pods
}

func equal(a, b []podUse) bool {
	return slices.EqualFunc(a, b, func(a, b podUse) bool {
		at := a.at.Equal(&b.at)
		a.at, b.at = metav1.Time{}, metav1.Time{}
		return at && a == b
	})
}

// TestListsAreSkimmed: no list that a server writes is beyond skimming, and what is read is what objects hold.
func TestListsAreSkimmed(t *testing.T) {
	for seed := range uint64(500) {
		list := randomList(rand.New(rand.NewPCG(seed, 0)))
		body := encode(t, metricsscheme.Scheme, runtime.ContentTypeProtobuf, list)
		for _, container := range []string{"", "app", "none"} {
			got, ok := skim(body, corev1.ResourceCPU, container)
			if want := decoded(list, corev1.ResourceCPU, container); !ok || !equal(want, got) {
				t.Fatalf("seed %d, container %q: got %v, %+v; want %+v", seed, container, ok, got, want)
			}
		}
	}
}

func TestUse(t *testing.T) {
	type measured struct {
		name  string
		has   bool
		milli int64
	}
	tests := map[string]struct {
		container string
		measured  []measured
		want      int64
		known     bool
	}{
		"no containers":               {"", nil, 0, false},
		"the sum of all":              {"", []measured{{"app", true, 1}, {"proxy", true, 2}, {"app", true, 4}}, 7, true},
		"the first lacks it":          {"", []measured{{"app", false, 0}, {"proxy", true, 2}}, 0, false},
		"the last lacks it":           {"", []measured{{"app", true, 1}, {"proxy", false, 0}}, 1, false},
		"one of them":                 {"proxy", []measured{{"app", true, 1}, {"proxy", true, 2}, {"log", true, 4}}, 2, true},
		"one of them, others lack it": {"proxy", []measured{{"app", false, 0}, {"proxy", true, 2}, {"log", false, 0}}, 2, true},
		"one that is not there":       {"proxy", []measured{{"app", true, 1}}, 0, false},
		"the first of that name":      {"app", []measured{{"app", true, 1}, {"app", true, 2}}, 1, true},
		"the first lacks it, where a second of that name has it": {"app", []measured{{"app", false, 0}, {"app", true, 2}}, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := use{container: tc.container}
			for _, m := range tc.measured {
				got.add(m.name, m.has, m.milli)
			}
			if got.milli != tc.want || got.known != tc.known {
				t.Errorf("got %d, %v; want %d, %v", got.milli, got.known, tc.want, tc.known)
			}
		})
	}
}

func TestWhatIsNotAListIsNotSkimmed(t *testing.T) {
	list := randomList(rand.New(rand.NewPCG(1, 1)))
	whole := string(encode(t, metricsscheme.Scheme, runtime.ContentTypeProtobuf, list))
	nodes := string(encode(t, metricsscheme.Scheme, runtime.ContentTypeProtobuf, &metricsv1beta1.NodeMetricsList{}))
	tests := map[string]string{
		"nothing":          "",
		"no magic":         whole[4:],
		"JSON":             usage,
		"another kind":     nodes,
		"a list cut short": whole[:len(whole)-9],
		"no envelope":      "k8s\x00\xff",
		"an encoding":      envelope(t, runtime.Unknown{ContentEncoding: "gzip"}),
		"another version": envelope(t,
			runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "metrics.k8s.io/v1", Kind: "PodMetricsList"}}),
		"items that are numbers":           envelope(t, runtime.Unknown{Raw: []byte{2 << 3, 1}}),
		"metadata that is a number":        envelope(t, runtime.Unknown{Raw: item(1<<3, 1)}),
		"a name that is a number":          envelope(t, runtime.Unknown{Raw: item(1<<3|2, 2, 1<<3, 7)}),
		"labels that are numbers":          envelope(t, runtime.Unknown{Raw: item(1<<3|2, 2, 11<<3, 7)}),
		"a label's key that is a number":   envelope(t, runtime.Unknown{Raw: item(1<<3|2, 4, 11<<3|2, 2, 1<<3, 7)}),
		"a field of fixed length":          envelope(t, runtime.Unknown{Raw: item(1<<3|2, 5, 13<<3|5, 0x81, 0x81, 0x81, 1)}),
		"a field without a number":         envelope(t, runtime.Unknown{Raw: item(2, 0)}),
		"a tag without an end":             envelope(t, runtime.Unknown{Raw: item(0x80)}),
		"a tag without a value":            envelope(t, runtime.Unknown{Raw: item(1<<3 | 2)}),
		"a value beyond the message's end": envelope(t, runtime.Unknown{Raw: item(1<<3|2, 5, 1)}),
		"a time that is none":              envelope(t, runtime.Unknown{Raw: item(2<<3|2, 1, 0xff)}),
		"a window that is none":            envelope(t, runtime.Unknown{Raw: item(3<<3|2, 1, 0xff)}),
		"a quantity that is none": envelope(t,
			runtime.Unknown{Raw: item(append([]byte{4<<3 | 2, 12, 2<<3 | 2, 10, 1<<3 | 2, 3}, "cpu\x12\x03\x0a\x01x"...)...)}),
		"a quantity that is a number, in a mapping": envelope(t,
			runtime.Unknown{Raw: item(append([]byte{4<<3 | 2, 9, 2<<3 | 2, 7, 1<<3 | 2, 3}, "cpu\x10\x07"...)...)}),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := skim([]byte(body), corev1.ResourceCPU, ""); ok {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// item is a list of one item.
func item(bytes ...byte) []byte { return append([]byte{2<<3 | 2, byte(len(bytes))}, bytes...) }

// envelope completes one, of a PodMetricsList where nothing else is said.
func envelope(t *testing.T, u runtime.Unknown) string {
	t.Helper()
	if u.Kind == "" {
		u.TypeMeta = runtime.TypeMeta{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetricsList"}
	}
	body, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return wire.Magic + string(body)
}

// FuzzSkim: what can be decoded is skimmed as it is decoded, or not at all.
func FuzzSkim(f *testing.F) {
	for seed := range uint64(500) {
		d := rand.New(rand.NewPCG(seed, 1))
		list, err := randomList(d).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		for range d.IntN(3) {
			list[d.IntN(len(list))] ^= 1 << d.IntN(8)
		}
		f.Add(list, []string{"", "app"}[d.IntN(2)])
	}
	f.Fuzz(func(t *testing.T, raw []byte, container string) {
		var list metricsv1beta1.PodMetricsList
		unreadable := list.Unmarshal(raw)
		u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetricsList"}, Raw: raw}
		body, err := u.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := skim(append([]byte(wire.Magic), body...), corev1.ResourceCPU, container)
		if !ok || unreadable != nil {
			return
		}
		if want := decoded(&list, corev1.ResourceCPU, container); !equal(want, got) {
			t.Errorf("skimmed %+v, decoded %+v: %s", got, want, cmp.Diff(list, metricsv1beta1.PodMetricsList{}))
		}
	})
}

// largeList is of 2 000 Pods of two containers, as a hub writes it.
func largeList(b *testing.B) []byte {
	b.Helper()
	list := &metricsv1beta1.PodMetricsList{}
	for i := range 2_000 {
		used := func(n int64) corev1.ResourceList {
			return corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewScaledQuantity(n*7919+1, resource.Nano),
				corev1.ResourceMemory: *resource.NewQuantity(n*4096+4096, resource.BinarySI),
			}
		}
		list.Items = append(list.Items, metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{
				Name: "web-5d4f8c7b6d-" + strconv.Itoa(i), Namespace: "shop",
				Labels:      map[string]string{"app": "web", "pod-template-hash": "5d4f8c7b6d", "team": "payments", fleet.ClusterLabel: "east"},
				Annotations: map[string]string{queryFromAnnotation: "east"},
			},
			Timestamp: metav1.NewTime(noon), Window: metav1.Duration{Duration: 15 * time.Second},
			Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: used(int64(i))}, {Name: "proxy", Usage: used(1)}},
		})
	}
	return encode(b, metricsscheme.Scheme, runtime.ContentTypeProtobuf, list)
}

func BenchmarkSkim(b *testing.B) {
	body := largeList(b)
	b.ReportAllocs()
	for b.Loop() {
		if pods, ok := skim(body, corev1.ResourceCPU, ""); !ok || len(pods) != 2_000 {
			b.Fatalf("%d Pods, %v", len(pods), ok)
		}
	}
}
