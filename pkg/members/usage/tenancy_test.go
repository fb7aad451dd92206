// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// hotOf counts the questions that are kept hot, by namespace.
func (f *fleetOf) hotOf() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Store.mu.Lock()
	defer f.Store.mu.Unlock()
	hot := map[string]int{}
	for k := range f.hot {
		hot[k.namespace]++
	}
	return hot
}

// perPeriod is how many requests a member gets in a period.
func perPeriod(m *fakeMember) int64 {
	const periods = 4
	before := m.asks()
	pass(periods * resolution)
	return (m.asks() - before) / periods
}

func selecting(t *testing.T, namespace, text string) Question {
	t.Helper()
	q := inNamespace(namespace)
	var err error
	if q.Selector, err = labels.Parse(text); err != nil {
		t.Fatal(err)
	}
	return q
}

// A tenant whose Pods have no labels asks by many selectors. That makes the member no old one, whatever it costs the tenant.
func TestPodsWithoutLabelsAreTheirOwnersAffair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const others, selectors = 50, 300
		all := []metricsv1beta1.PodMetrics{pod("evil", "bare", nil)}
		for i := range others {
			all = append(all, pods(fmt.Sprintf("shop-%d", i), 2)...)
		}
		east := newFakeMember("east", all...)
		f := startStoreOf(t, 100, east)
		synctest.Wait()
		for i := range others {
			f.Pods(t.Context(), inNamespace(fmt.Sprintf("shop-%d", i)))
		}
		f.Pods(t.Context(), inNamespace("evil"))
		pass(2 * resolution)
		before := perPeriod(east)
		for i := range selectors {
			fleettest.Same(t, "pods", []string{"east/evil/bare"}, names(f.Pods(t.Context(), selecting(t, "evil", fmt.Sprintf("a!=%d", i)))))
			fleettest.Same(t, "pods", []string(nil), names(f.Pods(t.Context(), selecting(t, "evil", fmt.Sprintf("a=%d", i)))))
		}
		if got := inequalities(east); len(got) != 0 {
			t.Errorf("the member was asked %v, which is known", got)
		}
		if after := perPeriod(east); before > 3 || after > 3 {
			t.Errorf("the member gets %d requests in a period, and got %d before, want no more than 3", after, before)
		}
		if hot := f.hotOf(); len(hot) != others+1 || hot["evil"] != 1 {
			t.Errorf("hot are %v, want one of each namespace", hot)
		}
	})
}

// Where a member really leaves labels out, a tenant with many selectors has some of its own no longer kept.
func TestSelectorsOfOneTenantLeaveOthersHot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const others, selectors = 50, 300
		all := []metricsv1beta1.PodMetrics{pod("evil", "bare", nil)}
		for i := range others {
			all = append(all, pod(fmt.Sprintf("shop-%d", i), "bare", nil))
		}
		east := newFakeMember("east", all...)
		f := startStoreOf(t, 110, east)
		synctest.Wait()
		for i := range others {
			f.Pods(t.Context(), selecting(t, fmt.Sprintf("shop-%d", i), "app=web"))
		}
		for i := range selectors {
			a := f.Pods(t.Context(), selecting(t, "evil", fmt.Sprintf("a!=%d", i)))
			fleettest.Same(t, "pods", []string{"east/evil/bare"}, names(a))
		}
		hot := f.hotOf()
		if hot["evil"] > 10 || hot["evil"] < 5 { // of 110 the others have 100
			t.Errorf("hot are %d questions of the tenant, want 10 of 110", hot["evil"])
		}
		if delete(hot, "evil"); len(hot) != others {
			t.Errorf("%d namespaces of others are hot, want %d", len(hot), others)
		}
		for namespace, n := range hot {
			if n != 2 {
				t.Errorf("of %s %d questions are hot, want the namespace and its selector", namespace, n)
			}
		}
		asks := east.asks()
		for i := range others {
			f.Pods(t.Context(), selecting(t, fmt.Sprintf("shop-%d", i), "app=web"))
		}
		if got := east.asks() - asks; got != 0 {
			t.Errorf("the others' next questions put %d to the member", got)
		}
	})
}

func TestSelectorsAreBoundedWhereNobodyElseAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pod("shop", "bare", nil))
		f := startStoreOf(t, 1000, east)
		synctest.Wait()
		for i := range 3 * mostSelectors {
			f.Pods(t.Context(), selecting(t, "shop", fmt.Sprintf("a!=%d", i)))
		}
		fleettest.Same(t, "hot", map[string]int{"shop": 1 + mostSelectors}, f.hotOf())
		asks := east.asks()
		for i := 2 * mostSelectors; i < 3*mostSelectors; i++ {
			f.Pods(t.Context(), selecting(t, "shop", fmt.Sprintf("a!=%d", i)))
		}
		if got := east.asks() - asks; got != 0 {
			t.Errorf("the last %d selectors put %d questions to the member again", mostSelectors, got)
		}
	})
}

// A member whose labels all go has been taken back to an old metrics-server: it is asked by selectors at once, so that no
// answer lacks what is there.
func TestLabelsThatGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", append(pods("shop", 2), pods("bank", 1)...)...)
		f := startStoreOf(t, 100, east)
		synctest.Wait()
		for _, namespace := range []string{"bank", "shop"} {
			f.Pods(t.Context(), selecting(t, namespace, "app=web"))
		}
		east.Set(func() {
			for i := range east.pods {
				east.pods[i].Labels = nil
			}
		})
		for range 3 * int(resolution/time.Second) {
			pass(time.Second)
			want := []string{"east/shop/web-0", "east/shop/web-1"}
			fleettest.Same(t, "pods", want, names(f.Pods(t.Context(), selecting(t, "shop", "app=web"))))
			fleettest.Same(t, "pods", []string{"east/bank/web-0"}, names(f.Pods(t.Context(), selecting(t, "bank", "app=web"))))
		}
		east.Set(func() {
			for i := range east.pods {
				east.pods[i].Labels = map[string]string{"app": "web"}
			}
		})
		pass(2 * resolution)
		asks := len(inequalities(east))
		for i := range 20 {
			f.Pods(t.Context(), selecting(t, "shop", fmt.Sprintf("app!=%d", i)))
		}
		if got := len(inequalities(east)) - asks; got != 0 {
			t.Errorf("the labels are back, and it is asked by %d new selectors", got)
		}
	})
}

// inequalities are the questions with a selector such as a!=1.
func inequalities(m *fakeMember) (asked []string) {
	for _, uri := range m.queries() {
		if strings.Contains(uri, "%21%3D") {
			asked = append(asked, uri)
		}
	}
	return asked
}

// What is known of a member's labels is no older than its samples may be.
func TestLabelsSeenLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", append(pods("shop", 1), pod("evil", "bare", nil))...)
		f := startStoreOf(t, 100, east)
		synctest.Wait()
		f.Pods(t.Context(), inNamespace("shop"))
		east.Set(func() { east.pods = east.pods[1:] })
		pass(2 * time.Minute)
		f.Pods(t.Context(), selecting(t, "evil", "a!=1"))
		if got := len(inequalities(east)); got != 1 {
			t.Errorf("it was asked by %d selectors, want one: its last labels are two minutes old", got)
		}
	})
}

// A namespace of very many Pods gives up its own, and is not passed off as empty.
func TestNamespaceBeyondItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 64 << 10
		east, west := newFakeMember("east", pods("shop", 20)...), newFakeMember("west", pods("shop", 20)...)
		f := startStoreIn(t, limit, 100, east, west)
		synctest.Wait()
		shop := names(f.Pods(t.Context(), inNamespace("shop")))
		if len(shop) != 40 {
			t.Fatalf("pods %v", shop)
		}
		synctest.Wait()
		kept := f.o.Memory.Bytes()
		east.Set(func() { east.pods = append(east.pods, pods("evil", 1000)...) })
		const want = "1 of 2 clusters did not answer: east (TooLarge: beyond its namespace's share of --max-kept-bytes)"
		f.Pods(t.Context(), inNamespace("evil")) // may be answered, as what came is not weighed yet
		synctest.Wait()
		warning := f.Pods(t.Context(), inNamespace("evil")).Coverage().Warning()
		fleettest.Same(t, "warning", want, warning)
		fleettest.Same(t, "others' bytes", kept, f.o.Memory.Bytes())

		east.Set(func() { east.pods = append(pods("shop", 20), pods("evil", 280)...) }) // with the others' it is just too much
		west.Set(func() { west.pods = append(west.pods, pods("evil", 280)...) })
		silent := 0
		for range 10 {
			pass(resolution)
			fleettest.Same(t, "others' pods", shop, names(f.Pods(t.Context(), inNamespace("shop"))))
			a := f.Pods(t.Context(), inNamespace("evil"))
			if len(a.Silent) == 2 { // both may answer, one as it was just before the other took its room
				t.Errorf("coverage %s: want one of the clusters to have room", a.Coverage().Header())
			}
			silent += len(a.Silent)
			if bytes := f.o.Memory.Bytes(); bytes > limit {
				t.Errorf("%d bytes are kept, of %d", bytes, limit)
			}
		}
		if silent < 5 {
			t.Errorf("one of the clusters had no room %d times of 10, want nearly always", silent)
		}
		east.Set(func() { east.pods = pods("shop", 20) })
		pass(2 * resolution)
		if a := f.Pods(t.Context(), inNamespace("evil")); len(names(a)) != 280 || len(a.Silent) != 0 {
			t.Errorf("%d pods and coverage %s once there is room, want 280 and all", len(names(a)), a.Coverage().Header())
		}
	})
}

func TestWhatIsDroppedTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 20)...), newFakeMember("west", pods("shop", 20)...)
		f := startStore(t, east, west)
		synctest.Wait()
		f.Pods(t.Context(), inNamespace("shop"))
		synctest.Wait() // an answer is served before it is counted
		both := f.o.Memory.Bytes()
		f.setMembers(east)
		synctest.Wait()
		fleettest.Same(t, "bytes of one member", both/2, f.o.Memory.Bytes())
		pass(10 * time.Minute)
		fleettest.Same(t, "bytes of what nobody asks for", int64(0), f.o.Memory.Bytes())
		fleettest.Same(t, "shares", int64(0), f.shares.Weight())
	})
}

// What a batch is said to take is what it does, or somewhat more.
func TestBytesOfABatch(t *testing.T) {
	const n = 5_000
	distinct := statefulPods(n)
	for i := range distinct.Items {
		distinct.Items[i].Labels = map[string]string{"its-own": fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", i%200))}
	}
	lists := map[string]*metricsv1beta1.PodMetricsList{
		"of one container": singlePods(n), "of two containers": statefulPods(n), "with labels of their own": distinct,
	}
	for name, list := range lists {
		body := protobufOf(list)
		heaptest.Check(t, func() error {
			before := heaptest.InUse()
			batch, err := allPods.decodePods(body, contentTypeProtobuf)
			if err != nil {
				t.Fatal(err)
			}
			heap := heaptest.InUse() - before
			defer runtime.KeepAlive(batch)
			if ratio := float64(batch.bytes()) / float64(heap); ratio < 0.95 || ratio > 1.5 {
				return fmt.Errorf("%s: %d bytes, and it takes %d: a ratio of %.2f", name, batch.bytes(), heap, ratio)
			}
			return nil
		})
		runtime.KeepAlive(body)
	}
	runtime.KeepAlive(lists) // or the heap shrinks meanwhile
}
