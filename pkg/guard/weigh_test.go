// SPDX-License-Identifier: Apache-2.0

package guard

import (
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// taken is what read allocates, in bytes.
func taken(read func()) int64 {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	read()
	goruntime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// holds fails where decoding takes more than was said.
func holds(t *testing.T, what string, weight int64, read func()) (took int64) {
	t.Helper()
	took = taken(read)
	if took > weight {
		took = min(took, taken(read)) // what is initialized once, and what others do, does not count
	}
	if took > weight {
		t.Errorf("%s: decoding takes %d bytes, and was said to take %d", what, took, weight)
	}
	return took
}

// Whatever of Kubernetes' types it is, decoding takes no more than was said, in JSON and in protobuf.
func TestWeightOfEachTypeOfKubernetes(t *testing.T) {
	guarded, decoder := ofKubernetes(), scheme.Codecs.UniversalDeserializer()
	random := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kindsOf(guarded) {
		for range fleettest.Rounds(2, 2) {
			object, err := scheme.Scheme.New(kind)
			if err != nil {
				t.Fatal(err)
			}
			(&crowder{random}).fill(reflect.ValueOf(object).Elem(), 0)
			object.GetObjectKind().SetGroupVersionKind(kind)
			for i, body := range encodings(object) {
				weight, err := guarded.Check(body, &kind, nil)
				if tooHeavy(err) {
					continue
				} else if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				holds(t, fmt.Sprintf("%s %d in %d bytes", kind, i, len(body)), weight, func() { _, _, _ = decoder.Decode(body, &kind, nil) })
			}
		}
	}
}

// crowder fills objects with lists and maps of few and many, and short text.
type crowder struct{ random *rand.Rand }

func (c *crowder) some(depth int) int {
	return []int{0, 1, 2, 3, 5, 9, 17}[c.random.IntN(max(1, 7-depth))]
}

func (c *crowder) fill(v reflect.Value, depth int) {
	switch {
	case depth > 9:
		return
	case v.Type() == quantity:
		v.Set(reflect.ValueOf(resource.MustParse([]string{"250m", "123456789n", "1.5Gi", "1e99", strings.Repeat("9", 200)}[c.random.IntN(5)])))
		return
	case v.Type() == reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.Time{Time: time.Unix(c.random.Int64N(1<<31), 0)}))
		return
	case v.Type() == reflect.TypeFor[metav1.MicroTime]():
		v.Set(reflect.ValueOf(metav1.MicroTime{Time: time.Unix(c.random.Int64N(1<<31), 1000)}))
		return
	case v.Type() == reflect.TypeFor[metav1.FieldsV1]():
		v.Set(reflect.ValueOf(*metav1.NewFieldsV1(`{"f:a":{},"f:b":{"f:c":{}}}`)))
		return
	case v.Type() == reflect.TypeFor[runtime.RawExtension]():
		v.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"a":[1,2,3]}`)}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if c.random.IntN(2) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := c.some(depth)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			c.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Interface || v.Type().Key().Kind() != reflect.String {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for i := range c.some(depth) {
			value := reflect.New(v.Type().Elem()).Elem()
			c.fill(value, depth+1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", i)).Convert(v.Type().Key()), value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				c.fill(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		v.SetString([]string{"", "a", "web-5d9c7b8f4e", strings.Repeat("x", 60), "ä€\n", strings.Repeat("€\t", 40)}[c.random.IntN(6)])
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(c.random.Int64N(1 << 20))
	}
}

// Lists, maps and text that take the most for their bytes.
func TestWeightOfWhatUnfolds(t *testing.T) {
	list := func(item string, n int) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	entries := func(value string, n int) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			fmt.Fprintf(&b, "%q:%s,", fmt.Sprint(i), value)
		}
		b.WriteString(`"z":` + value + "}")
		return b.String()
	}
	bodies := map[string]string{
		"odd text":       `{"metadata":{"name":"` + strings.Repeat(`\n`, 5000) + `"}}`,
		"no UTF-8":       `{"metadata":{"name":"` + strings.Repeat("\xff", 5000) + `"}}`,
		"odd keys":       `{"metadata":{"labels":` + strings.ReplaceAll(entries(`""`, 500), `"1`, `"\u0031`) + `}}`,
		"unknown fields": `{` + strings.Repeat(`"`+strings.Repeat("A", 100)+`":1,`, 100) + `"b":1}`,
		"fields again":   `{` + strings.Repeat(`"spec":{"containers":[{},{}]},`, 100) + `"kind":"Pod"}`,
		"other cases":    `{"SPEC":{"CONTAINERS":` + list("{}", 300) + `,"\u0076olumes":` + list("{}", 300) + `}}`,
		"deep":           `{"metadata":{"x":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}}`,
	}
	for _, n := range []int{0, 1, 2, 7, 8, 9, 60, 256, 257, 513, 849, 1700, 1793, 3000} {
		bodies[fmt.Sprint("containers ", n)] = `{"spec":{"containers":` + list("{}", n) + `}}`
		bodies[fmt.Sprint("finalizers ", n)] = `{"metadata":{"finalizers":` + list(`""`, n) + `}}`
		bodies[fmt.Sprint("labels ", n)] = `{"metadata":{"labels":` + entries(`""`, n) + `}}`
		bodies[fmt.Sprint("overhead ", n)] = `{"spec":{"overhead":` + entries(`1`, n) + `}}`
		bodies[fmt.Sprint("managed fields ", n)] = `{"metadata":{"managedFields":` +
			list(`{"time":"2026-01-02T03:04:05Z","fieldsV1":{}}`, n) + `}}`
	}
	for name, body := range bodies {
		weight, err := TypeOf(&corev1.Pod{}).JSON([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, name+" by the standard library", weight, func() { _ = stdjson.Unmarshal([]byte(body), &corev1.Pod{}) })
		typed := `{"kind":"Pod","apiVersion":"v1",` + body[1:]
		weight, err = ofKubernetes().Check([]byte(typed), nil, nil)
		if err == nil {
			holds(t, name+" by the API machinery", weight, func() {
				_, _, _ = scheme.Codecs.UniversalDeserializer().Decode([]byte(typed), nil, nil)
			})
		}
		weight, err = TypeOf(&unstructured.Unstructured{}).JSON([]byte(typed))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, name+" without a type", weight, func() { _ = (&unstructured.Unstructured{}).UnmarshalJSON([]byte(typed)) })
		wrapped := []byte(`{"kind":"PodList","apiVersion":"v1","items":[` + typed + "," + typed + `]}`)
		weight, err = TypeOf(&unstructured.UnstructuredList{}).JSON(wrapped)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, name+" in a list without a type", weight, func() { _ = (&unstructured.UnstructuredList{}).UnmarshalJSON(wrapped) })
	}
}

// The same in protobuf.
func TestWeightOfCrumbs(t *testing.T) {
	field := func(number int, content []byte) []byte {
		return append([]byte{byte(number<<3 | 2)}, lengthed(content)...)
	}
	bodies := map[string][]byte{}
	for _, n := range []int{1, 2, 7, 8, 9, 256, 257, 513, 849, 1793, 2561, 3000, 10_000} {
		bodies[fmt.Sprint("Pods ", n)] = crumbs(2, n, "")
		bodies[fmt.Sprint("containers ", n)] = field(2, field(2, crumbs(2, n, "")))
		bodies[fmt.Sprint("finalizers ", n)] = field(2, field(1, crumbs(14, n, "")))
		bodies[fmt.Sprint("labels ", n)] = field(2, field(1, crumbs(11, n, "")))
		bodies[fmt.Sprint("specs again ", n)] = field(2, crumbs(2, n, "\x12\x00"))
		bodies[fmt.Sprint("in turns ", n)] = field(2, field(2, []byte(strings.Repeat("\x12\x00\x0a\x00", n))))
		bodies[fmt.Sprint("numbers ", n)] = field(2, field(2, []byte(strings.Repeat("\x20\x01", n))))
		bodies[fmt.Sprint("times ", n)] = field(2, field(1, []byte(strings.Repeat("\x42\x02\x08\x01", n))))
	}
	var some []byte
	for i := range 3000 {
		some = append(some, field(11, append(field(1, []byte(fmt.Sprint(i))), field(2, nil)...))...)
	}
	bodies["many labels"] = field(2, field(1, some))
	for name, body := range bodies {
		weight, err := TypeOf(&corev1.PodList{}).Protobuf(body)
		if err != nil {
			continue // it is refused
		}
		holds(t, name, weight, func() { _ = (&corev1.PodList{}).Unmarshal(body) })
	}
}

// Of a message that ends within a field nothing is weighed.
func TestTornMessages(t *testing.T) {
	for _, torn := range []string{"\x12", "\x12\x05\x0a", "\x08", "\x0a\x00\x12"} {
		if _, err := TypeOf(&corev1.Pod{}).weigh([]byte(torn)); err == nil {
			t.Errorf("%q is weighed", torn)
		}
	}
}

// What honest members send is not said to take much more than it does.
func TestWeightOfOrdinaryLists(t *testing.T) {
	check := func(what string, weight int64, err error, most float64, read func()) {
		t.Helper()
		took := holds(t, what, weight, read)
		ratio := float64(weight) / float64(took)
		t.Logf("%s: said %d, took %d: %.2f times", what, weight, took, ratio)
		if err != nil || ratio > most {
			t.Errorf("%s was said to take %.2f times what it does (%v)", what, ratio, err)
		}
	}
	for _, n := range []int{10, 500, 5000} {
		list := &metricsv1beta1.PodMetricsList{}
		list.SetGroupVersionKind(metricsv1beta1.SchemeGroupVersion.WithKind("PodMetricsList"))
		usage := corev1.ResourceList{"cpu": resource.MustParse("123456789n"), "memory": resource.MustParse("65536Ki")}
		for i := range n {
			list.Items = append(list.Items, metricsv1beta1.PodMetrics{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-5d9c7b8f4e-%05d", i),
					CreationTimestamp: metav1.Now(), Labels: map[string]string{"app": "web", "pod-template-hash": "5d9c7b8f4e"}},
				Timestamp: metav1.Now(), Window: metav1.Duration{Duration: 15 * time.Second},
				Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: usage}, {Name: "proxy", Usage: usage}},
			})
		}
		message, _ := list.Marshal()
		weight, err := TypeOf(list).Protobuf(message)
		check(fmt.Sprint(n, " PodMetrics in protobuf"), weight, err, 4, func() { _ = (&metricsv1beta1.PodMetricsList{}).Unmarshal(message) })
		text, _ := stdjson.Marshal(list)
		weight, err = TypeOf(list).JSON(text)
		check(fmt.Sprint(n, " PodMetrics in JSON"), weight, err, 4, func() { _ = stdjson.Unmarshal(text, &metricsv1beta1.PodMetricsList{}) })
		for i, body := range encodings(pods(n)) {
			weight, err = ofKubernetes().Check(body, nil, nil)
			check(fmt.Sprint(n, " Pods ", i), weight, err, 5, func() { _, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil) })
		}
	}
}

func FuzzWeight(f *testing.F) {
	f.Add([]byte(`{"spec":{"metrics":[{},{}]},"metadata":{"labels":{"a":"b"}}}`))
	f.Add([]byte("\x12\x02\x12\x00\x12\x00"))
	for _, body := range encodings(pods(2)) {
		f.Add(body)
	}
	const inWords = 1 << 10 // of an error
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, like := range []interface {
			runtime.Object
			Unmarshal([]byte) error
		}{&corev1.PodList{}, &autoscalingv2.HorizontalPodAutoscaler{}, &metricsv1beta1.PodMetricsList{}} {
			made := func() any { return reflect.New(reflect.TypeOf(like).Elem()).Interface() }
			if weight, err := TypeOf(like).JSON(data); err == nil {
				holds(t, fmt.Sprintf("%T in JSON", like), weight+inWords, func() { _ = stdjson.Unmarshal(data, made()) })
			}
			if weight, err := TypeOf(like).Protobuf(data); err == nil {
				holds(t, fmt.Sprintf("%T in protobuf", like), weight+inWords, func() {
					_ = made().(interface{ Unmarshal([]byte) error }).Unmarshal(data)
				})
			}
		}
	})
}

// A type with fields of larger numbers needs more room in what counts them.
func TestNumbersOfFieldsAreCounted(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(at reflect.Type) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice || at.Kind() == reflect.Map {
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct || seen[at] {
			return
		}
		seen[at] = true
		for i := range at.NumField() {
			if n := numberOf(at.Field(i).Tag.Get("protobuf")); n >= mostNumber {
				t.Errorf("field %s of %s has the number %d", at.Field(i).Name, at, n)
			}
			visit(at.Field(i).Type)
		}
	}
	for _, at := range scheme.Scheme.AllKnownTypes() {
		visit(at)
	}
}
