// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const evil = "1e-2147483648"

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool // refused
	}{
		"the smallest exponent":            {evil, true},
		"one that wraps around to another": {"1e4294967298", true},
		"the smallest that is refused":     {"1e1000", true},
		"the largest that is not":          {"1e-999", false},
		"in capitals, with a sign":         {"-1.5E+99999", true},
		"between spaces":                   {" \t1e-99999\n", true},
		"leading zeros count for nothing":  {"1e0000000009", false},
		"the suffix exa":                   {"1E", false},
		"the suffix exbi":                  {"12Ei", false},
		"metrics-server's cpu":             {"123456789n", false},
		"metrics-server's memory":          {"65536Ki", false},
		"the largest number there is":      {"9223372036854775807", false},
		"256 digits":                       {strings.Repeat("9", 256), false},
		"257 digits":                       {strings.Repeat("9", 257), true},
		"nothing":                          {"", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := check([]byte(tc.text)); (err != nil) != tc.want {
				t.Errorf("check(%q) = %v, want refused: %v", tc.text, err, tc.want)
			}
			data := []byte(fmt.Sprintf(`{"spec":{"metrics":[{"external":{"target":{"value":%q}}}]}}`, tc.text))
			if err := JSON(data, &autoscalingv2.HorizontalPodAutoscaler{}); (err != nil) != tc.want {
				t.Errorf("JSON(%s) = %v, want refused: %v", data, err, tc.want)
			}
			var tree map[string]any
			if err := json.Unmarshal(data, &tree); err != nil {
				t.Fatal(err)
			}
			if err := Unstructured(tree, &autoscalingv2.HorizontalPodAutoscaler{}); (err != nil) != tc.want {
				t.Errorf("Unstructured(%v) = %v, want refused: %v", tree, err, tc.want)
			}
		})
	}
}

func TestWhatIsNoObjectIsRefused(t *testing.T) {
	if err := Unstructured(map[string]any{"spec": func() {}}, &autoscalingv2.HorizontalPodAutoscaler{}); err == nil {
		t.Error("a function is an object")
	}
}

func TestJSON(t *testing.T) {
	target := func(value string) string {
		return `{"spec":{"metrics":[{},{"pods":{"target":{"averageValue":` + value + `}}}]}}`
	}
	tests := map[string]struct{ data, want string }{
		"a string": {target(`"` + evil + `"`),
			`spec.metrics[1].pods.target.averageValue: the quantity "1e-2147483648" would take too long to read: give it an exponent from -999 to 999 and at most 256 characters`},
		"a number":        {target(evil), `spec.metrics[1].pods.target.averageValue: the quantity "1e-2147483648"`},
		"escapes":         {target(`"\u0031\u0065-2\u003147483648"`), `averageValue: the quantity "1e-2147483648"`},
		"another case":    {`{"SPEC":{"Metrics":[{"pods":{"target":{"AverageValue":"1e99999"}}}]}}`, `SPEC.Metrics[0]`},
		"the second time": {`{"spec":{"metrics":[{"pods":{"target":{"value":"1","value":"1e99999"}}}]}}`, `target.value: the quantity "1e99999"`},
		"a long one":      {target(`"` + strings.Repeat("1", 1000) + `"`), `the quantity "1111111111111111111111111111111111111111" would`},
		"a label":         {`{"metadata":{"labels":{"a":"1e-2147483648"}}}`, ``},
		"a name":          {`{"metadata":{"name":"1e-2147483648"}}`, ``},
		"a broken object": {`{"spec":{"metrics":[{"x":"1e99999"}`, `unexpected EOF`},
		"no name":         {`{"spec":{"metrics":[{1:"1e99999"}]}}`, `invalid character '1'`},
		"a deep one":      {`{"a":"1e99999","b":` + strings.Repeat("[", 1_000_000), `exceeded max depth`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := JSON([]byte(tc.data), &autoscalingv2.HorizontalPodAutoscaler{})
			if got := fmt.Sprint(err); err == nil && tc.want != "" || err != nil && (tc.want == "" || !strings.Contains(got, tc.want)) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// Encoders of other languages may write lengths and tags in more bytes than need be; a hostile one will.
func TestProtobufIsReadAsStrictlyAsAnyDecoder(t *testing.T) {
	text := append([]byte{byte(len(evil))}, evil...)
	tests := map[string][]byte{
		"as usual":                   append([]byte{0x0a}, text...),
		"a long tag":                 append([]byte{0x8a, 0x80, 0x00}, text...),
		"a long length":              append([]byte{0x0a, 0x80 | byte(len(evil)), 0x80, 0x00}, evil...),
		"a tag that is cut to 1":     append([]byte{0x8a, 0x80, 0x80, 0x80, 0x80, 0x01}, text...),
		"after a good one":           append([]byte("\x0a\x011\x0a"), text...),
		"after a group":              append([]byte{0x13, 0x08, 0x01, 0x14, 0x0a}, text...),
		"an end of no group":         append([]byte{0x14, 0x0a}, text...),
		"after a field nobody knows": append([]byte("\x30\x05\x0a"), text...),
	}
	for name, message := range tests {
		t.Run(name, func(t *testing.T) {
			if err := Quantity(message); err == nil {
				t.Errorf("%q is let through", message)
			}
		})
	}
}

// ofKubernetes guards all types of Kubernetes. To learn them takes longer than most tests.
var ofKubernetes = sync.OnceValue(func() *Scheme { return SchemeOf(scheme.Scheme) })

// kindsOf are all kinds, in the short form one of each type: the options of requests are kinds of every API.
func kindsOf(s *Scheme) []schema.GroupVersionKind {
	all := slices.SortedFunc(maps.Keys(s.kinds), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	seen := map[reflect.Type]bool{}
	return slices.DeleteFunc(all, func(kind schema.GroupVersionKind) bool {
		again := seen[s.kinds[kind]]
		seen[s.kinds[kind]] = true
		return again && testing.Short()
	})
}

// Every type that Kubernetes has, each filled at random: what is refused is what has a harmful quantity,
// and nothing that has any other text that resembles one.
func TestEachTypeOfKubernetes(t *testing.T) {
	guarded := ofKubernetes()
	random := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for _, kind := range kindsOf(guarded) {
		for range fleettest.Rounds(3, 3) {
			object, err := scheme.Scheme.New(kind)
			if err != nil {
				t.Fatal(err)
			}
			quantities := (&filler{random: random}).fill(reflect.ValueOf(object).Elem(), 0)
			object.GetObjectKind().SetGroupVersionKind(kind)
			bodies := encodings(object)
			for _, body := range bodies {
				if _, err := guarded.Check(body, &kind, nil); err != nil {
					t.Fatalf("%s without a harmful quantity: %v\n%.300q", kind, err, body)
				}
			}
			if len(quantities) == 0 {
				continue
			}
			checked += len(bodies)
			quantities[random.IntN(len(quantities))].set()
			for _, body := range encodings(object) {
				if _, err := guarded.Check(body, &kind, nil); !errors.As(err, new(*HarmfulError)) {
					t.Fatalf("%s with a harmful quantity: %v\n%q", kind, err, body)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d objects had quantities: the test is wrong", checked)
	}
}

// looksHarmful is a text that a quantity may not be; harmful is a quantity that is encoded as such.
const looksHarmful = "1e-2147483648"

var harmful = resource.MustParse("1e3003")

// encodings are the object in protobuf, if it has such, and JSON.
func encodings(object runtime.Object) [][]byte {
	var all [][]byte
	for _, info := range scheme.Codecs.SupportedMediaTypes() {
		var body bytes.Buffer
		protobuf := info.MediaType == runtime.ContentTypeProtobuf
		if !protobuf && info.MediaType != runtime.ContentTypeJSON {
			continue
		}
		if err := info.Serializer.Encode(object, &body); err == nil {
			all = append(all, body.Bytes())
		}
	}
	return all
}

// filler fills objects, and notes where quantities are.
type filler struct {
	random     *rand.Rand
	quantities []place
}

// place sets a quantity, or the value of a map.
type place struct{ set func() }

func (f *filler) fill(v reflect.Value, depth int) []place {
	if v.Type() == quantity {
		v.Set(reflect.ValueOf(resource.MustParse("250m")))
		f.quantities = append(f.quantities, place{func() { v.Set(reflect.ValueOf(harmful)) }})
		return f.quantities
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 12 && f.random.IntN(8) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < 12 && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			f.fill(v.Index(0), depth+1)
		}
	case reflect.Map:
		f.fillMap(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		v.SetString(looksHarmful)
	}
	return f.quantities
}

func (f *filler) fillMap(v reflect.Value, depth int) {
	if v.Type().Elem().Kind() == reflect.Interface || v.Type().Key().Kind() != reflect.String {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	key := reflect.ValueOf(looksHarmful).Convert(v.Type().Key())
	value := reflect.New(v.Type().Elem()).Elem()
	before := len(f.quantities)
	f.fill(value, depth+1)
	v.SetMapIndex(key, value)
	for i, p := range f.quantities[before:] {
		f.quantities[before+i] = place{func() { p.set(); v.SetMapIndex(key, value) }}
	}
}

func TestDecoderRefuses(t *testing.T) {
	guarded := ofKubernetes()
	pod := `{"kind":"Pod","apiVersion":"v1","spec":{"overhead":{"cpu":"1e-2147483648"}}}`
	bare := `{"spec":{"overhead":{"cpu":"1e-2147483648"}}}`
	podKind := corev1.SchemeGroupVersion.WithKind("Pod")
	tests := map[string]struct {
		data     string
		defaults *schema.GroupVersionKind
		into     runtime.Object
		want     string
	}{
		"the kind that is named":      {pod, nil, nil, "spec.overhead.cpu"},
		"the kind by default":         {bare, &podKind, nil, "spec.overhead.cpu"},
		"the kind that is wanted":     {bare, nil, &corev1.Pod{}, "spec.overhead.cpu"},
		"the kind instead of another": {pod, nil, &corev1.Node{}, "spec.overhead.cpu"},
		"a type of no scheme":         {`{"usage":{"cpu":"1e-2147483648"}}`, nil, &metricsv1beta1.NodeMetrics{}, "usage.cpu"},
		"YAML":                        {"kind: Pod\napiVersion: v1\nspec: {overhead: {cpu: 1e-2147483648}}", nil, nil, "neither"},
		"no kind at all":              {bare, nil, nil, "has been registered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := guarded.Decoder(scheme.Codecs.UniversalDeserializer()).Decode([]byte(tc.data), tc.defaults, tc.into)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// FuzzJSON holds the quick check to the rule: whatever text a quantity is, and however it is written, what is let
// through is parsed at once.
func FuzzJSON(f *testing.F) {
	f.Add(`"1e-2147483648"`)
	f.Add(`1e-2147483648`)
	f.Add(`"\u0031e99999"`)
	f.Add(`"\t1e99999"`)
	f.Add(`"9e12345678901234567890"`)
	f.Add(`"sha256:9e1234567890"`)
	f.Fuzz(func(t *testing.T, value string) {
		data := []byte(`{"spec":{"overhead":{"cpu":` + value + `}}}`)
		var plain struct {
			Spec struct{ Overhead struct{ CPU any } }
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if !json.Valid(data) || decoder.Decode(&plain) != nil {
			return
		}
		refused := JSON(data, &corev1.Pod{}) != nil
		text := strings.TrimSpace(fmt.Sprint(plain.Spec.Overhead.CPU))
		if strict(text) != refused && looksLikeQuantity(text) {
			t.Fatalf("%s: refused %v", value, refused)
		}
		if refused {
			return
		}
		begin := time.Now()
		_ = json.Unmarshal(data, &corev1.Pod{})
		if took := time.Since(begin); took > time.Second {
			t.Fatalf("%s took %v", value, took)
		}
	})
}

// strict says of a quantity whether it is too much, by another way: the value of its exponent.
func strict(text string) bool {
	_, exponent, found := strings.Cut(strings.ToLower(text), "e")
	var n, scanned int
	if found {
		scanned, _ = fmt.Sscanf(exponent, "%d", &n)
		if digits := strings.TrimLeft(exponent, "+-0"); scanned == 0 && len(digits) > 18 {
			return true
		}
	}
	return len(text) > mostText || n > 999 || n < -999
}

var digits = sets.New([]byte("0123456789")...)

// looksLikeQuantity is true for a number with an exponent of digits only, or none.
func looksLikeQuantity(text string) bool {
	number, exponent, found := strings.Cut(strings.ToLower(text), "e")
	exponent = strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
	return number != "" && strings.Trim(number, "0123456789") == "" &&
		(!found || exponent != "" && digits.HasAll([]byte(exponent)...))
}

// An event of a watch is decoded as it comes, its object left for a decoder of its own; nothing else is decoded so.
func TestEvents(t *testing.T) {
	want := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte(`{"kind":"Pod"}`)}}
	asJSON, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	asProtobuf, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{runtime.ContentTypeJSON: asJSON, runtime.ContentTypeProtobuf: asProtobuf}
	for _, info := range ofKubernetes().Serializer(scheme.Codecs).SupportedMediaTypes() {
		data, decoder, got := data[info.MediaType], info.StreamSerializer.Serializer, metav1.WatchEvent{Type: "of another one"}
		_, kind, err := decoder.Decode(data, nil, &got)
		if err != nil || *kind != eventKind {
			t.Errorf("%s: %v, %v", info.MediaType, kind, err)
		}
		fleettest.Same(t, info.MediaType, want, got)
		if _, _, err := decoder.Decode(data[:len(data)-1], nil, &got); err == nil || !strings.HasPrefix(err.Error(), "decoding an event: ") {
			t.Errorf("%s, a part of it: %v", info.MediaType, err)
		}
		if _, _, err := decoder.Decode(data, nil, &corev1.Pod{}); !errors.Is(err, errNoEvent) {
			t.Errorf("%s, into a Pod: %v", info.MediaType, err)
		}
	}
}
