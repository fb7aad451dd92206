// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Writes through the hub's API server, dry: with the two webhooks, which are
// asked in turn for each, and in a namespace about which they are not asked.
func BenchmarkAdmissionsThroughTheHub(b *testing.B) {
	e := hub(b)
	e.asked(b, 1)
	client := e.client(b)
	for _, clients := range []int{1, 8, 32} {
		var unasked float64
		b.Run(fmt.Sprintf("schema-only/clients=%d", clients), func(b *testing.B) {
			unasked = client.write(b, "kube-system", clients)
		})
		b.Run(fmt.Sprintf("webhook/clients=%d", clients), func(b *testing.B) {
			b.ReportMetric(client.write(b, "default", clients)/unasked, "of-schema-only")
		})
	}
}

// write has people write into a namespace, and returns the writes per second.
func (c client) write(b *testing.B, namespace string, people int) (rate float64) {
	var next atomic.Int64
	took := make([][]time.Duration, people)
	var running sync.WaitGroup
	b.ResetTimer()
	for p := range people {
		running.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				begin := time.Now()
				if _, err := c.try(b.Context(), namespace, probe(fmt.Sprintf("bench-%d", i), 3)); err != nil {
					b.Error(err)
					return
				}
				took[p] = append(took[p], time.Since(begin))
			}
		})
	}
	running.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	rate = float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "writes/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
	return rate
}
