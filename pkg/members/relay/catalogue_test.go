// SPDX-License-Identifier: Apache-2.0

package relay

import (
	order "cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// listing is the member's discovery of custom metrics: namespaced those that end in "+".
func listing(names ...string) []metav1.APIResource {
	var list []metav1.APIResource
	for _, name := range names {
		plain, namespaced := strings.CutSuffix(name, "+")
		list = append(list, metav1.APIResource{Name: plain, Namespaced: namespaced})
	}
	return list
}

func listed(f *fleetOf) (custom, external []string) {
	for _, info := range f.CustomMetrics() {
		custom = append(custom, info.String())
	}
	for _, info := range f.ExternalMetrics() {
		external = append(external, info.Metric)
	}
	return custom, external
}

func wantListed(t *testing.T, f *fleetOf, custom ...string) {
	t.Helper()
	synctest.Wait()
	got, _ := listed(f)
	fleettest.Same(t, "custom metrics", custom, got)
}

func TestCatalogueIsTheUnion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		east.listed = map[string][]metav1.APIResource{
			customGroup:   listing("pods/rps+", "namespaces/rps", "deployments.apps/rps+", "pods/rps+", "pods/errors+", "odd", "/rps", "pods/"),
			externalGroup: listing("queue+", "depth+", "queue+", ""),
		}
		west.listed = map[string][]metav1.APIResource{
			customGroup:   listing("pods/rps+", "pods/latency+", "deployments.extensions/rps+", "nodes/load"),
			externalGroup: listing("queue+", "age+"),
		}
		f := startFleet(t, west, east)
		wantListed(t, f,
			"deployments.apps/rps(namespaced)", "deployments.extensions/rps(namespaced)", "namespaces/rps", "nodes/load",
			"pods/errors(namespaced)", "pods/latency(namespaced)", "pods/rps(namespaced)")
		if _, external := listed(f); !cmp.Equal([]string{"age", "depth", "queue"}, external) {
			t.Errorf("external metrics %v", external)
		}
		if n := len(f.custom.lines["east"].names); n != 4 {
			t.Errorf("east has %d custom metrics, want 4: one it lists twice, and three are none", n)
		}
	})
}

func TestOrderOfTheCatalogue(t *testing.T) {
	inOrder := []provider.CustomMetricInfo{
		{GroupResource: schema.GroupResource{Resource: "deployments"}, Metric: "rps"},
		{GroupResource: schema.GroupResource{Resource: "deployments", Group: "apps"}, Metric: "errors"},
		{GroupResource: schema.GroupResource{Resource: "nodes"}, Metric: "errors", Namespaced: true},
		{GroupResource: schema.GroupResource{Resource: "nodes"}, Metric: "rps"},
		{GroupResource: schema.GroupResource{Resource: "nodes"}, Metric: "rps", Namespaced: true},
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got, want := byName(a, b), order.Compare(i, j); got != want {
				t.Errorf("byName(%v, %v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestCatalogueFollowsTheMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east"), newFakeMember("west")
		east.listed[customGroup], west.listed[customGroup] = listing("pods/a"), listing("pods/b")
		f := newFleet(east, west)
		var changes, running atomic.Int32
		for range 2 {
			f.OnCatalogueChange(func() {
				if running.Add(1) > 1 {
					t.Error("called twice at once")
				}
				time.Sleep(time.Second)
				running.Add(-1)
				changes.Add(1)
			})
		}
		f.start(t)
		time.Sleep(10 * time.Second)
		wantListed(t, f, "pods/a", "pods/b")
		const round = period + period/10 // within which the metrics of every member are discovered
		story := []struct {
			name    string
			change  func()
			changes bool
			want    []string
		}{
			{"nothing changes", func() {}, false, []string{"pods/a", "pods/b"}},
			{"a metric appears", func() { west.listed[customGroup] = listing("pods/b", "pods/c") }, true, []string{"pods/a", "pods/b", "pods/c"}},
			{"one that is known already", func() { east.listed[customGroup] = listing("pods/a", "pods/b") }, false,
				[]string{"pods/a", "pods/b", "pods/c"}},
			{"a member fails", func() { failsWhole(west) }, false, []string{"pods/a", "pods/b", "pods/c"}},
			{"it has lost a metric", func() { heals(west); west.listed[customGroup] = listing("pods/b") }, true, []string{"pods/a", "pods/b"}},
			{"it is away", func() { goesAway(west); west.listed[customGroup] = nil }, false, []string{"pods/a", "pods/b"}},
			{"the API is gone", func() { east.versions = nil }, true, []string{"pods/b"}},
			{"the API is back", func() { east.versions = newFakeMember("").versions }, true, []string{"pods/a", "pods/b"}},
		}
		for _, s := range story {
			before := changes.Load()
			east.Set(func() { west.Set(s.change) })
			f.MembersChanged()
			time.Sleep(round + 10*time.Second)
			if got, _ := listed(f); !cmp.Equal(s.want, got) {
				t.Errorf("%s: %v are listed, want %v", s.name, got, s.want)
			}
			if changed := changes.Load() > before; changed != s.changes {
				t.Errorf("%s: told of a change: %v, want %v", s.name, changed, s.changes)
			}
		}
		if changes.Load()%2 != 0 {
			t.Errorf("%d calls of two functions: one was left out", changes.Load())
		}
		f.setMembers(east)
		wantListed(t, f, "pods/a", "pods/b") // east knows b too
		east.Set(func() { east.listed[customGroup] = listing("pods/a") })
		f.setMembers(west, east)
		time.Sleep(round)
		wantListed(t, f, "pods/a") // west is away, and its part went when it left
		before := changes.Load()
		f.setMembers(west)
		time.Sleep(10 * time.Second)
		wantListed(t, f)
		if changes.Load() == before {
			t.Error("not told that nothing is left")
		}
	})
}

func TestMemberIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.Silent = away
		f := startFleet(t, east)
		time.Sleep(10 * time.Second)
		f.MembersChanged()
		wantListed(t, f)
		if asked := east.take(); asked != nil {
			t.Errorf("a member that is away was asked %v", asked)
		}
		east.Set(func() { east.Silent = nil })
		f.MembersChanged()
		wantListed(t, f, "namespaces/rps", "pods/rps(namespaced)") // at once
		f.MembersChanged()
		synctest.Wait()
		want := map[string]int{
			"/apis/" + customGroup: 1, "/apis/" + customGroup + "/v1beta2": 1,
			"/apis/" + externalGroup: 1, "/apis/" + externalGroup + "/v1beta1": 1,
		}
		fleettest.Same(t, "asked once it was ready", want, counts(east.take()))
		time.Sleep(100 * period)
		asked := counts(east.take())
		for uri := range want {
			if n := asked[uri]; n < 95 || n > 105 {
				t.Errorf("asked %s %d times in 100 periods", uri, n)
			}
		}
	})
}

func counts(all []string) map[string]int {
	n := map[string]int{}
	for _, s := range all {
		n[s]++
	}
	return n
}

func TestMembersAreNotLookedAtTogetherForEver(t *testing.T) {
	least, most := time.Hour, time.Duration(0)
	for range 1000 {
		d := jittered(time.Minute)
		least, most = min(least, d), max(most, d)
	}
	if least < 54*time.Second || least > 55*time.Second || most > 66*time.Second || most < 65*time.Second {
		t.Errorf("a minute is between %v and %v, want a tenth less to a tenth more", least, most)
	}
	if d := jittered(1); d < 0 || d > 2 {
		t.Errorf("a nanosecond is %v", d)
	}
}

func TestHubIsNotLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		wantListed(t, f, "namespaces/rps", "pods/rps(namespaced)")
		east.take()
		east.Set(func() { east.hub = true })
		time.Sleep(2 * period)
		wantListed(t, f)
		if asked := east.take(); asked != nil {
			t.Errorf("asked %v", asked)
		}
	})
}

func TestCatalogueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := newFleetWith(func(o *Options) { o.External = false }, east).start(t)
		var names []string
		for i := range mostNames + 1 {
			names = append(names, fmt.Sprintf("pods/m%06d", i))
		}
		f.takeLog()
		east.Set(func() { east.listed[customGroup] = listing(names...) })
		time.Sleep(2*period + period/5)
		all := f.CustomMetrics()
		if len(all) != mostNames || all[0].Metric != "m000000" || all[mostNames-1].Metric != fmt.Sprintf("m%06d", mostNames-1) {
			t.Errorf("%d are listed, want the first %d", len(all), mostNames)
		}
		want := []string{`"level"=0 "msg"="Cluster serves more metrics than are listed; all can be requested" "cluster"="east" "api"="custom.metrics.k8s.io" "version"="v1beta2" "listed"=20000`}
		fleettest.Same(t, "logged", want, f.takeLog())
	})
}

func TestChangesAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			serves = `"level"=0 "msg"="Discovered the metrics of the cluster" "cluster"="east" "api"="custom.metrics.k8s.io" "version"="v1beta2" "metrics"=2`
			older  = `"level"=0 "msg"="Discovered the metrics of the cluster" "cluster"="east" "api"="custom.metrics.k8s.io" "version"="v1beta1" "metrics"=2`
			gone   = `"level"=0 "msg"="Cluster does not serve the metrics API" "cluster"="east" "api"="custom.metrics.k8s.io"`
			broken = `"level"=0 "msg"="Metric discovery failed, so the last known metrics stay listed" "cluster"="east" "api"="custom.metrics.k8s.io" "reason"="ServerError" "detail"="an error on the server (\"unknown\") has prevented the request from succeeding"`
		)
		east := newFakeMember("east")
		f := newFleetWith(func(o *Options) { o.External = false }, east).start(t)
		story := []struct {
			change func()
			want   []string
		}{
			{func() {}, []string{serves}},
			{func() { east.listed[customGroup] = listing("pods/a") }, nil},
			{func() { failsWhole(east) }, []string{broken}},
			{func() { east.Handle = saying(403, "no") }, nil}, // it fails, as before
			{func() { heals(east); east.listed[customGroup] = listing("pods/a", "pods/b") }, []string{serves}},
			{func() { goesAway(east) }, nil}, // that is the member's to say
			{func() { heals(east); east.versions[customGroup] = []string{"v1beta1"} }, []string{older}},
			{func() { east.versions[customGroup] = nil }, []string{gone}},
			{func() { failsWhole(east) }, []string{broken}},
			{func() { heals(east) }, []string{gone}},
			{func() { east.versions[customGroup] = []string{"v1beta2"} }, []string{serves}},
		}
		for i, s := range story {
			east.Set(s.change)
			for range 3 {
				f.Custom(t.Context(), podsRPS) // questions say nothing
				time.Sleep(period)
			}
			fleettest.Same(t, fmt.Sprintf("step %d", i), s.want, f.takeLog())
		}
	})
}
