// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"k8s.io/metrics/pkg/apis/external_metrics"
)

// Kept answers of many questions, put to ten members in turn.
func BenchmarkKept(b *testing.B) {
	var members []Source
	for i := range 10 {
		m := newFakeMember(fmt.Sprintf("member-%d", i))
		m.series = []external_metrics.ExternalMetricValue{oneSeries("a", "1"), oneSeries("b", "2")}
		members = append(members, m)
	}
	f := newFleetWith(func(o *Options) { o.KeepFor = time.Hour }, members...)
	ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), logr.Discard()))
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	defer running.Wait()
	defer cancel()
	questions := make([]ExternalQuestion, 1000)
	for i := range questions {
		questions[i] = queue
		questions[i].Namespace = fmt.Sprintf("shop-%d", i%100)
		questions[i].Metric = fmt.Sprintf("%d/queue", i)
		for len(f.External(ctx, questions[i]).Values) < len(members) {
			runtime.Gosched() // members are joining
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if n := len(f.External(ctx, questions[i%len(questions)]).Values); n != len(members) {
			b.Fatalf("%d answers", n)
		}
	}
}
