// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

const (
	// mostPerPod is the heap that a Pod of a template with others may cost.
	mostPerPod = 150
	templates  = 200
)

// heapPerPod returns what n Pods cost that were read from a member.
func heapPerPod(t testing.TB, n int) float64 {
	t.Helper()
	s := run(t)
	before := heaptest.InUse()
	east := memberOf(n, func(i int) *corev1.Pod { return deployed(i/(n/templates), i) })
	l := s.Ask(t.Context(), east, "shop", labels.Nothing())
	if !l.Known || l.Silent != nil {
		t.Fatalf("known %v, silent %v", l.Known, l.Silent)
	}
	cost := float64(heaptest.InUse()-before) / float64(n)
	runtime.KeepAlive(s)
	return cost
}

func TestHeapPerPod(t *testing.T) {
	heaptest.Check(t, func() error {
		if got := heapPerPod(t, 20_000); got > mostPerPod {
			return fmt.Errorf("a Pod costs %.0f bytes, want %d at most", got, mostPerPod)
		}
		return nil
	})
}

// What a record says that it takes is what the heap grows by, nearly.
func TestBytesOfARecord(t *testing.T) {
	const n = 20_000
	tests := map[string]func(i int) *corev1.Pod{
		"of a template": func(i int) *corev1.Pod { return deployed(i/(n/templates), i) },
		"each its own":  func(i int) *corev1.Pod { return deployed(i, i) },
		"waiting": func(i int) *corev1.Pod {
			p := deployed(i, i)
			p.Spec.NodeName = ""
			p.Spec.NodeSelector = map[string]string{"example.com/of": strings.Repeat("x", 200) + p.Name}
			return p
		},
	}
	for name, pod := range tests {
		t.Run(name, func(t *testing.T) {
			heaptest.Check(t, func() error {
				kept, before := make([]*Record, n), heaptest.InUse()
				for i := range kept {
					kept[i] = recordOf(pod(i))
				}
				grown := heaptest.InUse() - before
				defer runtime.KeepAlive(kept)
				if bytes := bytesOf(kept); bytes < grown*2/3 || bytes > grown*2 {
					return fmt.Errorf("%d bytes a Pod by its record, and %d of the heap", bytes/n, grown/n)
				}
				return nil
			})
		})
	}
}

// bytesOf is what the records say that they take, each thing that they share once.
func bytesOf(records []*Record) (bytes int64) {
	shared := map[mirror.Shared]bool{}
	for _, r := range records {
		bytes += r.Bytes()
		if s := r.Shared(); !shared[s] {
			shared[s] = true
			bytes += s.Bytes()
		}
	}
	return bytes
}

// A record of more would take a fifth more: Go has no size between 80 and 96 bytes.
func TestRecordFitsItsSize(t *testing.T) {
	if got := unsafe.Sizeof(Record{}); got > 80 {
		t.Errorf("a record takes %d bytes", got)
	}
}

func BenchmarkHeap(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(heapPerPod(b, 100_000), "B/pod")
	}
}

func BenchmarkKeep(b *testing.B) {
	p := deployed(1, 1)
	kept := recordOf(p)
	b.ReportAllocs()
	for b.Loop() {
		recordOf(p)
	}
	runtime.KeepAlive(kept)
}

// BenchmarkAsk selects 100 of 100 000 Pods.
func BenchmarkAsk(b *testing.B) {
	s := run(b)
	east := memberOf(100_000, func(i int) *corev1.Pod { return deployed(i/100, i) })
	selector := labels.SelectorFromSet(labels.Set{"app.kubernetes.io/name": "checkout-077"})
	s.Ask(b.Context(), east, "shop", selector)
	b.ReportAllocs()
	for b.Loop() {
		if l := s.Ask(b.Context(), east, "shop", selector); len(l.Pods) != 100 {
			b.Fatalf("%d Pods", len(l.Pods))
		}
	}
}

// What nobody has any more goes: of twenty thousand templates little is left.
func TestTemplatesGoWithTheirLastPod(t *testing.T) {
	const templates, most = 20_000, 1 << 20
	kept, before := recordOf(deployed(0, 0)), heaptest.InUse()
	for i := range templates {
		recordOf(deployed(i, i))
	}
	deadline := time.After(30 * time.Second)
	for left := int64(math.MaxInt64); left > before+most; left = heaptest.InUse() {
		select {
		case <-deadline:
			t.Fatalf("%d bytes are held for one Pod", left-before)
		default:
		}
	}
	if again := recordOf(deployed(0, 1)); again.template != kept.template {
		t.Error("the template of a Pod that is kept is not found")
	}
	runtime.KeepAlive(kept)
}
