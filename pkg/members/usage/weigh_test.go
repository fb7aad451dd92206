// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// What is kept of an answer, and the objects of one of its items, take no more than was said.
func TestWhatIsKeptIsWeighed(t *testing.T) {
	const many = 3000
	lists := map[string]func(i int) metricsv1beta1.PodMetrics{
		"ordinary": func(i int) metricsv1beta1.PodMetrics { return sampleOf(i, "app=web", "app", "proxy") },
		"nothing but a name": func(i int) metricsv1beta1.PodMetrics {
			return metricsv1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint(i)}}
		},
		"labels of their own":     func(i int) metricsv1beta1.PodMetrics { return sampleOf(i, fmt.Sprint("a=", i), "app") },
		"containers of their own": func(i int) metricsv1beta1.PodMetrics { return sampleOf(i, "app=web", fmt.Sprint(i)) },
		"both, and resources": func(i int) metricsv1beta1.PodMetrics {
			m := sampleOf(i, fmt.Sprint("a=", i), fmt.Sprint(i))
			for n := range 20 {
				m.Containers[0].Usage[corev1.ResourceName(fmt.Sprint(n, i))] = resource.MustParse("1")
			}
			return m
		},
	}
	k := key{resource: podsResource}
	for name, item := range lists {
		list := &metricsv1beta1.PodMetricsList{}
		for i := range many {
			list.Items = append(list.Items, item(i))
		}
		asJSON, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		for contentType, body := range map[string][]byte{contentTypeProtobuf: protobufOf(list), contentTypeJSON: asJSON} {
			said, err := k.check(contentType)(body)
			if err != nil {
				t.Fatal(err)
			}
			heaptest.Check(t, func() error {
				before := heaptest.InUse()
				b, err := k.decode(body, contentType)
				if err != nil || b.Len() != many {
					t.Fatalf("%d, %v", b.Len(), err)
				}
				takes := heaptest.InUse() - before
				defer runtime.KeepAlive(b)
				t.Logf("%s in %s: %d bytes, said %d, takes %d", name, contentType, len(body), said, takes)
				if takes > said {
					return fmt.Errorf("%s in %s: %d are kept, and %d were said", name, contentType, takes, said)
				}
				return nil
			})
			whole, _ := guard.TypeOf(list).JSON(asJSON)
			if contentType == contentTypeProtobuf && said > whole {
				t.Errorf("%s: said to take %d item by item, and %d at once in JSON", name, said, whole)
			}
		}
	}
}

func sampleOf(i int, label string, containers ...string) metricsv1beta1.PodMetrics {
	key, value, _ := strings.Cut(label, "=")
	m := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-5d9c7b8f4e-%05d", i), Labels: map[string]string{key: value}},
		Timestamp:  metav1.Unix(1_700_000_000, 0), Window: metav1.Duration{Duration: 15 * time.Second},
	}
	for _, name := range containers {
		m.Containers = append(m.Containers, metricsv1beta1.ContainerMetrics{Name: name, Usage: corev1.ResourceList{
			"cpu": resource.MustParse("123456789n"), "memory": resource.MustParse("65536Ki")}})
	}
	return m
}

// A list of items of one name is said to take what is allocated for them, and not twice its bytes.
func TestItemsOfOneNameAreWeighed(t *testing.T) {
	const many = 500_000
	item := []byte("\x12\x08\x0a\x06\x0a\x01a\x1a\x01b")
	raw := bytes.Repeat(item, many)
	said, err := weighPods(raw)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var list podList
	if err := list.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); said < 40*int64(len(raw)) || kept > said {
		t.Errorf("%d bytes are said to take %d; %d are there", len(raw), said, kept)
	}
}
