// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// crumbs are many items of a field, each of the same content.
func crumbs(number, times int, content string) []byte {
	return bytes.Repeat(append([]byte{byte(number<<3 | 2), byte(len(content))}, content...), times)
}

func tooHeavy(err error) bool {
	var heavy *TooHeavyError
	return errors.As(err, &heavy)
}

func TestListsOfNothingAreTooHeavy(t *testing.T) {
	const many = 200_000
	inPod := func(spec string) string {
		return `{"kind":"PodList","apiVersion":"v1","items":[{"spec":{` + spec + `}}]}`
	}
	container := append([]byte{2<<3 | 2}, lengthed(crumbs(2, 200_000, ""))...) // a Pod's spec
	for name, tc := range map[string]struct {
		protobuf []byte
		json     string
		want     bool
	}{
		"Pods":               {protobuf: crumbs(2, many, ""), want: true},
		"Pods with a name":   {protobuf: crumbs(2, many, "\x0a\x03\x0a\x01a"), want: true},
		"a few Pods":         {protobuf: crumbs(2, 2_000, "")},
		"containers":         {protobuf: append([]byte{2<<3 | 2}, lengthed(container)...), want: true},
		"a long text":        {protobuf: append([]byte{1<<3 | 2}, lengthed(bytes.Repeat([]byte("\x12\x00"), many))...)},
		"Pods in JSON":       {json: `{"kind":"PodList","apiVersion":"v1","items":[` + strings.Repeat("{},", many) + "{}]}", want: true},
		"nulls":              {json: `{"kind":"PodList","apiVersion":"v1","items":[` + strings.Repeat("null,", many) + "{}]}", want: true},
		"numbers":            {json: `{"kind":"PodList","apiVersion":"v1","items":[` + strings.Repeat("1,", many) + "{}]}", want: true},
		"containers in JSON": {json: inPod(`"containers":[` + strings.Repeat("{},", many) + "{}]"), want: true},
		"a text in JSON":     {json: inPod(`"nodeName":"` + strings.Repeat(`[{},\"`, many) + `"`)},
		"keys in JSON":       {json: inPod(`"nodeSelector":{` + strings.Repeat(`"a":"",`, many) + `"a":""}`)},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(tc.json)
			if tc.protobuf != nil {
				unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Raw: tc.protobuf}
				raw, err := unknown.Marshal()
				if err != nil {
					t.Fatal(err)
				}
				body = append([]byte(wire.Magic), raw...)
				if _, err := TypeOf(&corev1.PodList{}).Protobuf(tc.protobuf); tooHeavy(err) != tc.want {
					t.Errorf("a message of the type: %v, want that it is too heavy: %t", err, tc.want)
				}
			} else if got := tooHeavy(JSON(body, &corev1.PodList{})); got != tc.want {
				t.Errorf("an object of the type: %t, want %t", got, tc.want)
			}
			if _, err := ofKubernetes().Check(body, nil, nil); tooHeavy(err) != tc.want {
				t.Errorf("%v, want that it is too heavy: %t", err, tc.want)
			}
		})
	}
}

// lengthed is a content after its length.
func lengthed(content []byte) []byte {
	var length []byte
	for n := len(content); ; n >>= 7 {
		if n < 0x80 {
			return append(append(length, byte(n)), content...)
		}
		length = append(length, byte(n)|0x80)
	}
}

// Objects that say as little as real ones may.
func TestRealListsAreNotTooHeavy(t *testing.T) {
	const many = 20_000
	usage, bare := &metricsv1beta1.PodMetricsList{}, &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	for i := range many {
		meta := metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%05d", i), UID: "6f1e4567-e89b-12d3-a456-000000000000",
			ResourceVersion: "1"}
		usage.Items = append(usage.Items, metricsv1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"},
			Containers: []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: pods(1).Items[0].Spec.Containers[0].Resources.Requests}}})
		bare.Items = append(bare.Items,
			corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: true}}}})
	}
	message, err := usage.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TypeOf(usage).Protobuf(message); err != nil {
		t.Error(err)
	}
	for _, list := range []*corev1.PodList{pods(many / 4), bare} {
		for _, body := range encodings(list) {
			if _, err := ofKubernetes().Check(body, nil, nil); err != nil {
				t.Errorf("%.80q: %v", body, err)
			}
		}
	}
}
