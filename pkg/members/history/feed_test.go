// SPDX-License-Identifier: Apache-2.0

package history

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// instances are the Pods that are known in each cluster.
func (s *Store) instances(t *testing.T) map[string]string {
	t.Helper()
	m, err := s.locked(web())
	if err != nil {
		t.Fatal(err)
	}
	defer m.mu.Unlock()
	all := map[string]string{}
	for _, share := range m.shares {
		var names []string
		for _, i := range share.instances {
			names = append(names, i.pod)
		}
		all[share.cluster] = strings.Join(names, " ")
	}
	return all
}

func TestFeed(t *testing.T) {
	killed := func(p pod, after time.Duration) pod {
		p.killed = noon.Add(after)
		return p
	}
	unmeasured := func(p pod) pod {
		p.unmeasured = true
		return p
	}
	unlisted := func(p pod) pod {
		p.unlisted = true
		return p
	}
	repeat := func(p Pass) Pass {
		p.At = p.At.Add(time.Minute) // what it holds was measured before
		return p
	}
	kill := []Kill{{"web-1", "app"}}
	tests := map[string]struct {
		passes []Pass
		want   []Fed // of the last pass
		pods   map[string]string
	}{
		"clusters in order": {
			[]Pass{at(0).saw("west", of(2, 1, 1), of(1, 1, 1)).saw("east", of(3, 1, 1))},
			[]Fed{{Cluster: "east", Samples: 1}, {Cluster: "west", Samples: 2}},
			map[string]string{"east": "web-3", "west": "web-1 web-2"},
		},
		"a repeat": {
			[]Pass{at(0).saw("east", of(1, 1, 1)), repeat(at(0).saw("east", of(1, 1, 1)))},
			[]Fed{{Cluster: "east", Repeats: 1}}, map[string]string{"east": "web-1"},
		},
		"what is not measured": {
			[]Pass{at(0).saw("east", of(1, hubmetrics.None, hubmetrics.None), of(2, hubmetrics.None, 1), of(3, 1, hubmetrics.None))},
			[]Fed{{Cluster: "east", Samples: 2}}, map[string]string{"east": "web-2 web-3"},
		},
		"a Pod is gone": {
			[]Pass{at(0).saw("east", of(1, 1, 1), of(2, 1, 1)), at(time.Minute).saw("east", of(2, 1, 1))},
			[]Fed{{Cluster: "east", Samples: 1}}, map[string]string{"east": "web-2"},
		},
		"a Pod that is listed or measured is not gone": {
			[]Pass{at(0).saw("east", of(1, 1, 1), of(2, 1, 1)),
				at(time.Minute).saw("east", unmeasured(of(1, 1, 1)), unlisted(of(2, 1, 1)))},
			[]Fed{{Cluster: "east", Samples: 1}}, map[string]string{"east": "web-1 web-2"},
		},
		"the Pods of a silent cluster stay for a day": {
			[]Pass{at(0).saw("east", of(1, 1, 1)), at(unseen).silent("east")},
			[]Fed{{Cluster: "east", Silent: true}}, map[string]string{"east": "web-1"},
		},
		"and no longer": {
			[]Pass{at(0).saw("east", of(1, 1, 1)), at(unseen + time.Second).silent("east")},
			[]Fed{{Cluster: "east", Silent: true}}, map[string]string{"east": ""},
		},
		"a cluster that does not list its Pods is silent too, though it is measured": {
			[]Pass{at(0).with(at(0).saw("east", of(1, 1, 1)).Uses[0], pods.SizedListing{})},
			[]Fed{{Cluster: "east", Silent: true, Samples: 1}}, map[string]string{"east": "web-1"},
		},
		"a cluster that does not measure is silent, too": {
			[]Pass{at(0).with(hubmetrics.ClusterUses{Cluster: "east", Outcome: hubmetrics.Absent}, pods.SizedListing{Known: true})},
			[]Fed{{Cluster: "east", Silent: true}}, map[string]string{"east": ""},
		},
		"a cluster that does not count keeps its share for 8 days": {
			[]Pass{at(0).saw("east", of(1, 1, 1)).saw("west"), at(keep).saw("west")},
			[]Fed{{Cluster: "west"}}, map[string]string{"east": "", "west": ""},
		},
		"and no longer than that": {
			[]Pass{at(0).saw("east", of(1, 1, 1)).saw("west"), at(keep + 1).saw("west")},
			[]Fed{{Cluster: "west"}}, map[string]string{"west": ""},
		},
		"a kill": {
			[]Pass{at(0).saw("east", killed(of(1, 1, 1), -30*24*time.Hour))},
			[]Fed{{Cluster: "east", Samples: 1, Kills: kill}}, map[string]string{"east": "web-1"},
		},
		"a kill that was seen": {
			[]Pass{at(0).saw("east", killed(of(1, 1, 1), 0)), at(time.Minute).saw("east", killed(of(1, 1, 1), 0))},
			[]Fed{{Cluster: "east", Samples: 1}}, map[string]string{"east": "web-1"},
		},
		"another kill": {
			[]Pass{at(0).saw("east", killed(of(1, 1, 1), 0)), at(time.Minute).saw("east", killed(of(1, 1, 1), time.Second))},
			[]Fed{{Cluster: "east", Samples: 1, Kills: kill}}, map[string]string{"east": "web-1"},
		},
		"a kill of a Pod that was never measured": {
			[]Pass{at(0).saw("east", unmeasured(killed(of(1, 1, 1), 0)), of(2, 1, 1))},
			[]Fed{{Cluster: "east", Samples: 1, Kills: kill}}, map[string]string{"east": "web-1 web-2"},
		},
		"a kill is seen once, though its cluster is silent": {
			[]Pass{at(0).silentAbout("east", killed(of(1, 1, 1), 0)), at(time.Minute).silentAbout("east", killed(of(1, 1, 1), 0))},
			[]Fed{{Cluster: "east", Silent: true}}, map[string]string{"east": "web-1"},
		},
		"a new kill counts, wherever the node's clock is": {
			[]Pass{at(0).saw("east", of(1, 1, 1)), at(time.Minute).saw("east", killed(of(1, 1, 1), -30*24*time.Hour))},
			[]Fed{{Cluster: "east", Samples: 1, Kills: kill}}, map[string]string{"east": "web-1"},
		},
		"after a long silence, a kill of the day before is an old one": {
			[]Pass{at(0).saw("east", killed(of(1, 1, 1), 0)), at(25 * time.Hour).silent("east"),
				at(50*time.Hour).saw("east", killed(of(1, 1, 1), 0))},
			[]Fed{{Cluster: "east", Samples: 1}}, map[string]string{"east": "web-1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := started(t, newHub(t), noon)
			var got []Fed
			for _, p := range tc.passes {
				got = feed(t, s, p)
			}
			fleettest.Same(t, "fed", tc.want, got)
			fleettest.Same(t, "known", tc.pods, s.instances(t))
		})
	}
}

// silentAbout adds a cluster whose Pods are known from before.
func (p Pass) silentAbout(cluster string, all ...pod) Pass {
	before := p.saw(cluster, all...).Pods[cluster]
	p = p.silent(cluster)
	before.Silent = p.Pods[cluster].Silent
	p.Pods[cluster] = before
	return p
}

// A kill has more memory advised than the container had.
func TestKillsRaiseTheAdvice(t *testing.T) {
	s := started(t, newHub(t), noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi/2)))
	before := advise(t, s, sizes.Advice{}).Fleet.Target[sizes.Memory]
	killed := of(1, 100, gi/2)
	killed.killed = noon
	feed(t, s, at(time.Minute).saw("east", killed))
	after := advise(t, s, sizes.Advice{}).Fleet.Target[sizes.Memory]
	if requested := int64(gi); before >= requested || after < requested*12/10 {
		t.Errorf("%d and then %d bytes, want less than %d, and then a fifth more than that at least", before, after, requested)
	}
}

func TestOrderMakesNoDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := started(t, newHub(t), noon), started(t, newHub(t), noon)
	for minute := range 200 {
		p := at(time.Duration(minute) * time.Minute)
		for _, cluster := range []string{"east", "north", "west"} {
			var all []pod
			for n := range 10 + r.IntN(5) {
				one := of(n, r.Int64N(4000), r.Int64N(8*gi))
				if r.IntN(50) == 0 {
					one.killed = p.At
				}
				all = append(all, one)
			}
			p = p.saw(cluster, all...)
		}
		shuffled := Pass{At: p.At, Uses: append([]hubmetrics.ClusterUses(nil), p.Uses...), Pods: map[string]pods.SizedListing{}}
		r.Shuffle(len(shuffled.Uses), func(i, j int) { shuffled.Uses[i], shuffled.Uses[j] = shuffled.Uses[j], shuffled.Uses[i] })
		for i := range shuffled.Uses {
			u := &shuffled.Uses[i]
			u.Pods = append([]hubmetrics.PodUses(nil), u.Pods...)
			r.Shuffle(len(u.Pods), func(i, j int) { u.Pods[i], u.Pods[j] = u.Pods[j], u.Pods[i] })
			l := p.Pods[u.Cluster]
			l.Pods = append([]pods.SizedPod(nil), l.Pods...)
			r.Shuffle(len(l.Pods), func(i, j int) { l.Pods[i], l.Pods[j] = l.Pods[j], l.Pods[i] })
			shuffled.Pods[u.Cluster] = l
		}
		if diff := cmp.Diff(feed(t, a, p), feed(t, b, shuffled)); diff != "" {
			t.Fatalf("minute %d, fed (-in order +shuffled):\n%s", minute, diff)
		}
		if diff := cmp.Diff(advise(t, a, sizes.Advice{}), advise(t, b, sizes.Advice{})); diff != "" {
			t.Fatalf("minute %d, advice (-in order +shuffled):\n%s", minute, diff)
		}
	}
}

// What is kept of an object is bounded, and what is left out is counted.
func TestBounds(t *testing.T) {
	s := started(t, newHub(t), noon)
	many := make([]pod, mostInstances)
	for n := range many {
		many[n] = of(n, 1, mi)
	}
	fed := feed(t, s, at(0).saw("east", many...).saw("west", of(1, 1, mi)))
	want := []Fed{{Cluster: "east", Samples: mostInstances}, {Cluster: "west", Ignored: 1}}
	fleettest.Same(t, "fed", want, fed)
	fed = feed(t, s, at(time.Minute).saw("east", many[:10]...).saw("west", of(1, 1, mi)))
	if fed[1].Ignored != 1 {
		t.Errorf("%+v: the room is given away before it is there", fed[1])
	}
	if fed = feed(t, s, at(2*time.Minute).saw("east", many[:10]...).saw("west", of(1, 1, mi))); fed[1].Samples != 1 {
		t.Errorf("%+v: want a sample, since there is room now", fed[1])
	}

	names := started(t, newHub(t), noon)
	p := at(0).saw("east", of(1, 1, mi))
	for n := range mostUses {
		p.Uses[0].Pods[0].Containers = append(p.Uses[0].Pods[0].Containers, hubmetrics.ContainerUse{
			Name: "app" + strings.Repeat("x", n%50) + string(rune('a'+n/50%26)) + string(rune('a'+n/1300)), MilliCPU: 1, Memory: 1,
		})
	}
	if fed := feed(t, names, p); fed[0].Samples != mostUses || fed[0].Ignored != 1 {
		t.Errorf("%d containers are kept and %d are not, want %d and 1", fed[0].Samples, fed[0].Ignored, mostUses)
	}

	objects := New(newHub(t), time.Minute)
	for n := range mostObjects + 1 {
		_, err := objects.of(Owner{"shop", of(n, 0, 0).name, "u", ""})
		if full := err != nil; full != (n == mostObjects) {
			t.Fatalf("object %d: %v", n, err)
		}
	}
}

// A member may tell of kills of as many Pods as it likes, and of one as often as it likes.
func TestManyKillsAtOnce(t *testing.T) {
	s := started(t, newHub(t), noon)
	killed := make([]pod, mostInstances)
	for n := range killed {
		killed[n] = of(n, 0, 0)
		killed[n].killed, killed[n].unmeasured = noon, true
	}
	p := at(0).saw("east", killed[1:]...)
	p.Pods["east"].Pods[0].OOMKills = append(p.Pods["east"].Pods[0].OOMKills, p.Pods["east"].Pods[0].OOMKills...)
	fed := feed(t, s, p.saw("west", killed[:2]...))
	if got := []int{len(fed[0].Kills), fed[0].Ignored, len(fed[1].Kills), fed[1].Ignored}; !slices.Equal(got,
		[]int{mostInstances - 1, 0, 1, 1}) {
		t.Errorf("kills and ignored of east, and of west: %v, want room for one of west", got)
	}
	if fed = feed(t, s, at(time.Minute).saw("east", killed[1:]...)); len(fed[0].Kills) != 0 {
		t.Errorf("%d kills are counted again", len(fed[0].Kills))
	}
}

// Of a container that is not the workload's nothing is kept, whoever tells of it: names are saved, and the hub refuses some.
func TestForeignContainers(t *testing.T) {
	s := started(t, newHub(t), noon)
	killed := of(2, 100, gi)
	killed.killed = noon
	p := at(0).saw("east", of(1, 100, gi), killed)
	for _, name := range []string{strings.Repeat("x", 64), "NOT A NAME", ""} {
		p.Uses[0].Pods[0].Containers = append(p.Uses[0].Pods[0].Containers, hubmetrics.ContainerUse{Name: name, MilliCPU: 1, Memory: 1})
		l := p.Pods["east"]
		l.Pods[1].OOMKills = append(l.Pods[1].OOMKills, pods.OOMKill{Container: name, Restarts: 1})
	}
	p.Containers = []string{"app"}
	fleettest.Same(t, "fed", []Fed{{Cluster: "east", Samples: 2, Kills: []Kill{{"web-2", "app"}}}}, feed(t, s, p))
	m, err := s.of(web())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.shares[0].containers); n != 1 || m.room().uses != mostUses-1 {
		t.Errorf("%d containers are kept, with room for %d", n, m.room().uses)
	}
}

// Once its owner names another workload, nothing is known of that, and what was saved of the other is overwritten.
func TestAnotherWorkload(t *testing.T) {
	hub := newHub(t)
	s := started(t, hub, noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	s.saveAll(t.Context(), noon, every)
	other := web()
	other.Workload = "Deployment/other"
	for name, next := range map[string]*Store{"in the same process": s, "in the next": New(hub, time.Minute)} {
		loaded, err := next.Load(t.Context(), other, noon)
		if err != nil || loaded.Containers != 0 || len(loaded.Faults) > 0 {
			t.Errorf("%s: %+v, %v", name, loaded, err)
		}
		if _, err := next.Feed(web(), at(time.Minute)); err == nil {
			t.Errorf("%s: the first is still fed", name)
		}
	}
	if _, err := s.Feed(other, at(time.Minute).saw("east", of(1, 200, gi), of(2, 200, gi))); err != nil {
		t.Fatal(err)
	}
	s.saveAll(t.Context(), noon.Add(time.Hour), every)
	next := New(hub, time.Minute)
	loaded, err := next.Load(t.Context(), other, noon)
	if err != nil || loaded.Containers != 1 || len(loaded.Faults) > 0 {
		t.Errorf("%+v, %v", loaded, err)
	}
	var all v1alpha1.MultidimPodAutoscalerHistoryList
	if err := hub.List(t.Context(), &all); err != nil || len(all.Items) != 1 || all.Items[0].Status.Containers[0].TotalSamplesCount != 2 {
		t.Errorf("%+v, %v", all.Items, err)
	}
}
