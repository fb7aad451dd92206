// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func encoded(t testing.TB, list *metricsv1beta1.PodMetricsList) []byte {
	t.Helper()
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func namesIn(raw []byte) (names []string, err error) {
	err = eachItem(raw, func(item []byte) error {
		var pod metricsv1beta1.PodMetrics
		if err := pod.Unmarshal(item); err != nil {
			return err
		}
		names = append(names, pod.Name)
		return nil
	})
	return names, err
}

func TestItemsOfAList(t *testing.T) {
	list := &metricsv1beta1.PodMetricsList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: pods("shop", 3)}
	raw := encoded(t, list)
	want := []string{"web-0", "web-1", "web-2"}
	for name, tc := range map[string]struct {
		raw  []byte
		want []string
		bad  bool
	}{
		"as it comes":           {raw: raw, want: want},
		"nothing":               {},
		"items that are none":   {raw: append([]byte("\x10\x05"), raw...), want: want},
		"no items":              {raw: encoded(t, &metricsv1beta1.PodMetricsList{})},
		"fields of the future":  {raw: append([]byte("\x18\x96\x01\x21abcdefgh\x2dabcd\x32\x02ab"), raw...), want: want},
		"cut within an item":    {raw: raw[:len(raw)-1], want: want[:2], bad: true},
		"cut within a tag":      {raw: append(bytes.Clone(raw), 0x80), want: want, bad: true},
		"cut within a length":   {raw: append(bytes.Clone(raw), 0x12, 0x80), want: want, bad: true},
		"cut within a number":   {raw: append(bytes.Clone(raw), 0x18, 0x80), want: want, bad: true},
		"cut within 8 bytes":    {raw: append(bytes.Clone(raw), "\x21abcdefg"...), want: want, bad: true},
		"cut within 4 bytes":    {raw: append(bytes.Clone(raw), "\x2dabc"...), want: want, bad: true},
		"a length beyond reach": {raw: []byte("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"), bad: true},
		"a group":               {raw: append([]byte("\x1b\x1c"), raw...), want: want},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := namesIn(tc.raw)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.bad {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if _, err := allPods.decodePods(enveloped(tc.raw), contentTypeProtobuf); (err != nil) != tc.bad {
				t.Errorf("decoded as a whole: %v", err)
			}
		})
	}
}

// FuzzItems has the library judge what is read, wherever both can read it.
func FuzzItems(f *testing.F) {
	f.Add(encoded(f, &metricsv1beta1.PodMetricsList{Items: pods("shop", 2)}))
	f.Add([]byte("\x18\x96\x01\x12\x00\x1b\x1c"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list metricsv1beta1.PodMetricsList
		if list.Unmarshal(raw) != nil {
			return
		}
		got, err := namesIn(raw)
		if err != nil {
			return // as a field of number 0, which the library skips
		}
		var want []string
		for _, item := range list.Items {
			want = append(want, item.Name)
		}
		fleettest.Same(t, "", want, got)
	})
}

func TestUnwrap(t *testing.T) {
	whole, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetricsList"},
		Raw: []byte("the list"), ContentType: "x"}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := unwrap(whole); string(raw) != "the list" || err != nil {
		t.Errorf("unwrap() = %q, %v", raw, err)
	}
	if raw, err := unwrap(nil); raw != nil || err != nil {
		t.Errorf("of nothing: %q, %v", raw, err)
	}
	var known runtime.Unknown
	for end := range whole {
		raw, err := unwrap(whole[:end])
		known.Reset()
		theirs := known.Unmarshal(whole[:end])
		if (err == nil) != (theirs == nil) || err == nil && string(raw) != string(known.Raw) {
			t.Errorf("cut off after %d bytes: %q, %v; the library: %q, %v", end, raw, err, known.Raw, theirs)
		}
	}
}
