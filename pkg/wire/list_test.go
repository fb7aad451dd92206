// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// pod is one whose parts lie in an object.
type pod struct{ *metricsv1beta1.PodMetrics }

func (p pod) AppendTo(b []byte, f Form) []byte {
	b = f.Begin(b, p.Namespace, p.Name)
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		b = f.Label(b, key, p.Labels[key])
	}
	for key, value := range p.Annotations {
		b = f.Annotation(b, key, value)
	}
	b = f.Measured(b, p.Timestamp.Time, p.Window.Duration)
	for _, c := range p.Containers {
		b = f.Container(b, c.Name)
		for _, name := range slices.Sorted(maps.Keys(c.Usage)) {
			b = f.Use(b, string(name), numberOf(c.Usage[name]))
		}
		b = f.EndContainer(b)
	}
	return f.End(b)
}

// numberOf is for quantities that were made of numbers.
func numberOf(q resource.Quantity) Number {
	for scale := resource.Nano; ; scale += 3 {
		value := q.ScaledValue(scale)
		if resource.NewScaledQuantity(value, scale).Cmp(q) == 0 {
			return Number{value, scale, q.Format}
		}
	}
}

// freshPages are never used twice.
type freshPages struct{}

func (freshPages) Lend() []byte { return nil }
func (freshPages) WriteAll(w io.Writer, pages ...[]byte) (int, error) {
	return w.Write(bytes.Join(pages, nil))
}

// FuzzLists holds every byte of a list to that which the API server's library makes of it.
func FuzzLists(f *testing.F) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		f.Add(seed)
	}
	scheme := runtime.NewScheme()
	if err := metricsv1beta1.AddToScheme(scheme); err != nil {
		f.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		list := &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{}}
		var items []pod
		for range random.IntN(4) * random.IntN(4) * random.IntN(40) {
			list.Items = append(list.Items, oddPod(random))
		}
		for i := range list.Items {
			items = append(items, pod{&list.Items[i]})
		}
		for form, write := range map[string]func(io.Writer, []byte, []pod, Pages) error{
			runtime.ContentTypeJSON: WriteJSON[pod], runtime.ContentTypeProtobuf: WriteProtobuf[pod],
		} {
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), form)
			encoder := codecs.EncoderForVersion(info.Serializer, metricsv1beta1.SchemeGroupVersion)
			want, err := runtime.Encode(encoder, list)
			if err != nil {
				t.Fatal(err)
			}
			empty, err := runtime.Encode(encoder, &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{}})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := write(&got, empty, items, freshPages{}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, got.Bytes()) {
				t.Errorf("%s: %q\nwant %q", form, got.Bytes(), want)
			}
		}
	})
}

func oddPod(random *rand.Rand) metricsv1beta1.PodMetrics {
	p := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pick(random, "", "shop", oddText(random)), Name: pick(random, "", "web-1", oddText(random)),
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{oddText(random): oddText(random)},
		},
		Timestamp:  metav1.NewTime(time.Unix(random.Int64N(4e9)-1e9, random.Int64N(1e9))),
		Window:     metav1.Duration{Duration: pick(random, 0, 15*time.Second, 1500*time.Microsecond, -time.Hour, time.Duration(random.Int64()))},
		Containers: []metricsv1beta1.ContainerMetrics{},
	}
	for range random.IntN(6) {
		p.Labels[pick(random, "zone", "", oddText(random))] = oddText(random)
	}
	for range random.IntN(4) {
		c := metricsv1beta1.ContainerMetrics{Name: pick(random, "app", oddText(random)), Usage: corev1.ResourceList{}}
		for range random.IntN(4) {
			q := *resource.NewScaledQuantity(pick(random, 0, 1, -1000, 1<<20, math.MaxInt64, random.Int64(), random.Int64N(1e6)*1024),
				pick(random, resource.Nano, resource.Milli, 0))
			q.Format = pick(random, resource.DecimalSI, resource.BinarySI, resource.DecimalExponent)
			c.Usage[pick(random, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceName(oddText(random)))] = q
		}
		p.Containers = append(p.Containers, c)
	}
	return p
}

func oddText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(4) * random.IntN(8) {
		b.WriteString(pick(random, "a", `"`, `\`, "<", ">", "&", "é", "\u2028", "\x01\n\t\x7f", "日本", "web-1.", "\x1f", " ", "!'()*+,"))
	}
	if random.IntN(20) == 0 {
		return strings.Repeat(b.String(), 100)
	}
	return b.String()
}

func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

// TestPlain: no byte that the library escapes passes, wherever it stands.
func TestPlain(t *testing.T) {
	for c := range 256 {
		want := c >= ' ' && c < 0x80 && !strings.ContainsRune(`"&<>\`, rune(c))
		for n := range 20 {
			for at := range n {
				text := []byte(strings.Repeat("x", n))
				text[at] = byte(c)
				if plain(string(text)) != want {
					t.Errorf("plain(%q) = %v", text, !want)
				}
			}
		}
	}
	if !plain("") {
		t.Error("nothing is not plain")
	}
}

func TestListsThatAreNone(t *testing.T) {
	if err := WriteJSON(io.Discard, []byte("{}"), []pod{}, freshPages{}); err == nil {
		t.Error("items were written into a list that has no place for them")
	}
	if err := WriteProtobuf(io.Discard, []byte(Magic+"\x12"), []pod{}, freshPages{}); err == nil {
		t.Error("items were written into an envelope that is none")
	}
}
