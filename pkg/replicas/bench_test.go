// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"testing"
)

// BenchmarkDecide decides by the cpu of 1 000 Pods in 10 clusters.
func BenchmarkDecide(b *testing.B) {
	q := ask(1000)
	q.Spec.MaxReplicas = 10_000
	for i := range 10 {
		q.Clusters = append(q.Clusters, cluster(fmt.Sprintf("member-%d", i), 100, assigned(105)))
		q = q.use(q.Clusters[i].Name, 90)
	}
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(q); d.Err != nil || d.Replicas <= 1000 {
			b.Fatal(decided(d))
		}
	}
}
