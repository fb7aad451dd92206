// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

func manySeries(n int) []external_metrics.ExternalMetricValue {
	series := make([]external_metrics.ExternalMetricValue, n)
	for i := range series {
		series[i] = oneSeries(fmt.Sprintf("queue-%06d", i), "7")
		series[i].MetricLabels["zone"] = "a"
	}
	return series
}

func selecting(t *testing.T, namespace, text string) ExternalQuestion {
	t.Helper()
	q := ExternalQuestion{Namespace: namespace, Metric: "queue", Clusters: everywhere}
	var err error
	if q.MetricSelector, err = labels.Parse(text); err != nil {
		t.Fatal(err)
	}
	return q
}

// Selectors that make no difference cost one copy of the series, while they are kept and when only what was seen is.
func TestSelectorsThatMatchTheSameSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const series = 2000
		selectors := fleettest.Rounds(200, 10)
		east := newFakeMember("east")
		east.series = manySeries(series)
		f := startFleet(t, east)
		before := heaptest.InUse()
		wantCoverage(t, f.External(t.Context(), selecting(t, "evil", "a!=0")), "answered=east")
		synctest.Wait()
		once := heaptest.InUse() - before
		for i := range selectors - 1 {
			wantCoverage(t, f.External(t.Context(), selecting(t, "evil", fmt.Sprintf("a!=%d", i+1))), "answered=east")
			east.take()
		}
		synctest.Wait()
		if all := heaptest.InUse() - before; all > 2*once {
			t.Errorf("%d selectors take %d KiB, and one took %d KiB", selectors, all>>10, once>>10)
		}
		time.Sleep(3 * keepFor)
		synctest.Wait()
		if later := heaptest.InUse() - before; later > once {
			t.Errorf("%d selectors take %d KiB later on, and one took %d KiB", selectors, later>>10, once>>10)
		}
		east.Set(func() { fails(east) })
		if n := len(f.External(t.Context(), selecting(t, "evil", "a!=7")).Before["east"]); n != series {
			t.Errorf("%d series are remembered, want %d", n, series)
		}
	})
}

// Series that have changed since, or are others, are not taken for the same.
func TestOnlyTheSameSeriesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.series = []external_metrics.ExternalMetricValue{oneSeries("a", "7168")}
		f := startFleet(t, east)
		changes := map[string]func(*external_metrics.ExternalMetricValue){
			"":       func(*external_metrics.ExternalMetricValue) {},
			"value":  func(v *external_metrics.ExternalMetricValue) { v.Value = resource.MustParse("8") },
			"format": func(v *external_metrics.ExternalMetricValue) { v.Value = resource.MustParse("7Ki") },
			"time":   func(v *external_metrics.ExternalMetricValue) { v.Timestamp.Time = v.Timestamp.Add(time.Minute) },
			"window": func(v *external_metrics.ExternalMetricValue) { v.WindowSeconds = new(int64(7)) },
			"label":  func(v *external_metrics.ExternalMetricValue) { v.MetricLabels = map[string]string{"queue": "b"} },
		}
		for name, change := range changes {
			s := oneSeries("a", "7168")
			f.External(t.Context(), selecting(t, "shop", "a!=0,a!="+name+"x"))
			change(&s)
			east.Set(func() { east.series = []external_metrics.ExternalMetricValue{s} })
			got := f.External(t.Context(), selecting(t, "shop", "a!=1,a!="+name+"x")).Values["east"]
			if len(got) != 1 || got[0].Value.Cmp(s.Value) != 0 || !got[0].Timestamp.Equal(&s.Timestamp) ||
				(got[0].WindowSeconds == nil) != (s.WindowSeconds == nil) || got[0].MetricLabels["queue"] != s.MetricLabels["queue"] ||
				got[0].Value.Format != s.Value.Format {
				t.Errorf("%s: %+v, want %+v", name, got, s)
			}
			east.Set(func() { east.series = []external_metrics.ExternalMetricValue{oneSeries("a", "7168")} })
			time.Sleep(time.Second)
		}
	})
}

// What one tenant asks for, by whichever of the two APIs, has nothing of another forgotten.
func TestOneTenantLeavesOthersTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, others = 4 << 20, 20
		kept := memory.New(limit, memory.NewMetrics(prometheus.NewRegistry()))
		east, west := newFakeMember("east"), newFakeMember("west")
		f := newFleetWith(func(o *Options) { o.Memory = kept }, east, west).start(t)
		for i := range others {
			wantCoverage(t, f.External(t.Context(), selecting(t, fmt.Sprintf("shop-%d", i), "a!=0")), "answered=east,west")
		}
		east.Set(func() { east.series = manySeries(1000) })
		west.Set(func() {
			for i := range 1000 {
				west.objects = append(west.objects, object(fmt.Sprintf("web-%d", i), "1"))
			}
		})
		for i := range 50 {
			f.External(t.Context(), selecting(t, "evil", fmt.Sprintf("a!=%d", i)))
			q := podsRPS
			q.Subject.namespace, q.MetricSelector = "evil", selecting(t, "", fmt.Sprintf("a!=%d", i)).MetricSelector
			f.Custom(t.Context(), q)
			synctest.Wait()
			if bytes := kept.Bytes(); bytes > limit {
				t.Fatalf("%d bytes are kept, of %d", bytes, limit)
			}
		}
		ofEvil := 0
		for q := range f.external.lines["east"].questions {
			if q.subject.namespace == "evil" {
				ofEvil++
			}
		}
		if ofEvil == 0 || ofEvil == 50 {
			t.Errorf("%d questions of the tenant are kept, want some of 50", ofEvil)
		}
		east.take()
		for i := range others {
			wantCoverage(t, f.External(t.Context(), selecting(t, fmt.Sprintf("shop-%d", i), "a!=0")), "answered=east,west")
		}
		if asked := east.take(); len(asked) > 0 {
			t.Errorf("%v was asked again", asked)
		}
	})
}

func TestWhatNobodyAsksTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memory.New(1<<30, memory.NewMetrics(prometheus.NewRegistry()))
		east, west := newFakeMember("east"), newFakeMember("west")
		f := newFleetWith(func(o *Options) { o.Memory = kept }, east, west).start(t)
		f.External(t.Context(), queue)
		f.Custom(t.Context(), podsRPS)
		synctest.Wait()
		both := kept.Bytes()
		f.setMembers(east)
		synctest.Wait()
		if one := kept.Bytes(); one == 0 || one*2 != both {
			t.Errorf("%d bytes are kept of one member, and %d were of both", one, both)
		}
		time.Sleep(idleAfter + 3*keepFor)
		synctest.Wait()
		if bytes := kept.Bytes(); bytes != 0 {
			t.Errorf("%d bytes are kept of what nobody asks for", bytes)
		}
	})
}

// What a member writes with its refusal is not kept at full length.
func TestLongRefusals(t *testing.T) {
	for _, code := range []int{404, 500} {
		synctest.Test(t, func(t *testing.T) {
			const long = 1 << 20
			n := int(fleettest.Rounds(50, 5))
			east := newFakeMember("east")
			east.values = saying(code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"x","code":%d,"message":%q}`,
				code, strings.Repeat("x ", long/2)))
			f := startFleet(t, east)
			before := heaptest.InUse()
			for i := range n {
				f.External(t.Context(), selecting(t, "evil", fmt.Sprintf("a!=%d", i)))
			}
			synctest.Wait()
			if heap := heaptest.InUse() - before; heap > int64(n*questionBytes+long) {
				t.Errorf("%d refusals with %d take %d KiB", n, code, heap>>10)
			}
			if questions, outcomes := held(f.external.lines["east"]); questions != n || outcomes != n {
				t.Errorf("%d questions and %d outcomes are held, want %d", questions, outcomes, n)
			}
		})
	}
}

// What values are said to take is what they do, or somewhat more.
func TestBytesOfValues(t *testing.T) {
	const n = 5000
	for name, measure := range map[string]func() (heap int64, said int64){
		"external": func() (int64, int64) {
			before := heaptest.InUse()
			values := manySeries(n)
			var said int64
			for i := range values {
				said += externalSize(&values[i])
			}
			heap := heaptest.InUse() - before
			runtime.KeepAlive(values)
			return heap, said
		},
		"custom": func() (int64, int64) {
			before := heaptest.InUse()
			values := make([]custom_metrics.MetricValue, n)
			var said int64
			for i := range values {
				values[i] = object(strings.Clone(fmt.Sprintf("web-%d", i)), "7")
				said += customSize(&values[i])
			}
			heap := heaptest.InUse() - before
			runtime.KeepAlive(values)
			return heap, said
		},
	} {
		heaptest.Check(t, func() error {
			heap, said := measure()
			if ratio := float64(said) / float64(heap); ratio < 0.95 || ratio > 1.8 {
				return fmt.Errorf("%s: %d bytes, and they take %d: a ratio of %.2f", name, said, heap, ratio)
			}
			return nil
		})
	}
}

// A question without values takes what it is said to take.
func TestBytesOfQuestions(t *testing.T) {
	heaptest.Check(t, func() (err error) {
		synctest.Test(t, func(t *testing.T) {
			kept := memory.New(1<<30, memory.NewMetrics(prometheus.NewRegistry()))
			east := newFakeMember("east")
			east.series = nil
			f := newFleetWith(func(o *Options) { o.Memory = kept }, east).start(t)
			before := heaptest.InUse()
			n := int64(fleettest.Rounds(3000, 4))
			for i := range n {
				f.External(t.Context(), selecting(t, fmt.Sprintf("shop-%d", i), "a!=0"))
				east.take()
			}
			synctest.Wait()
			heap := heaptest.InUse() - before
			if ratio := float64(kept.Bytes()) / float64(heap); ratio < 0.9 || ratio > 2.2 {
				err = fmt.Errorf("%d bytes a question, and they take %d: a ratio of %.2f", kept.Bytes()/n, heap/n, ratio)
			}
		})
		return err
	})
}
