// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// save saves the history of web.
func save(t testing.TB, s *Store, now time.Time) error {
	t.Helper()
	return s.save(t.Context(), s.find(web()), now)
}

// parts are the objects that the hub stores, by name.
func parts(t testing.TB, hub client.Client) map[string]v1alpha1.MultidimPodAutoscalerHistory {
	t.Helper()
	var list v1alpha1.MultidimPodAutoscalerHistoryList
	if err := hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]v1alpha1.MultidimPodAutoscalerHistory{}
	for _, h := range list.Items {
		all[h.Name] = h
	}
	return all
}

func wantParts(t *testing.T, hub client.Client, names ...string) {
	t.Helper()
	all := parts(t, hub)
	for _, name := range names {
		if _, there := all[name]; !there {
			t.Errorf("%s is not there", name)
		}
	}
	if len(all) != len(names) {
		t.Errorf("there are %d parts, want %v", len(all), names)
	}
}

func TestSave(t *testing.T) {
	hub := newHub(t)
	s := started(t, hub, noon)
	if err := save(t, s, noon); err != nil || len(parts(t, hub)) > 0 {
		t.Errorf("nothing was fed, but something was saved: %v, %v", parts(t, hub), err)
	}
	feed(t, s, at(0).saw("west", of(1, 100, gi)).saw("east", of(1, 100, gi), of(2, 200, gi)))
	if err := save(t, s, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	got := parts(t, hub)["web-0"]
	version := got.ResourceVersion
	got.TypeMeta, got.ResourceVersion = metav1.TypeMeta{}, ""
	first, savedAt, day := metav1.NewTime(noon), metav1.NewTime(noon.Add(time.Minute)), metav1.NewTime(noon.Add(-12*time.Hour))
	isController := true
	container := func(cluster string, weights map[string]int32, total string, samples int64) v1alpha1.ContainerHistory {
		return v1alpha1.ContainerHistory{
			Cluster: cluster, Container: "app", Version: "v3", FirstSampleStart: &first, LastSampleStart: &first, TotalSamplesCount: samples,
			CPUHistogram: v1alpha1.HistogramCheckpoint{ReferenceTimestamp: &day, BucketWeights: weights, TotalWeight: total},
		}
	}
	want := v1alpha1.MultidimPodAutoscalerHistory{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", Labels: map[string]string{"fleetscale.io/managed-by": "u1"},
			Annotations: map[string]string{"fleetscale.io/workload": "Deployment/web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "autoscaling.karmada.io/v1alpha1", Kind: "MultidimPodAutoscaler",
				Name: "web", UID: "u1", Controller: &isController}},
		},
		Status: v1alpha1.MultidimPodAutoscalerHistoryStatus{Part: 0, Parts: 1, SavedTime: &savedAt, Containers: []v1alpha1.ContainerHistory{
			container("east", map[string]int32{"8": 10000, "14": 10000}, "0.2", 2), container("west", map[string]int32{"8": 10000}, "0.1", 1),
		}},
	}
	sameTime := cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) })
	weight := cmp.FilterPath(func(p cmp.Path) bool {
		return strings.HasSuffix(p.String(), "TotalWeight") || strings.HasSuffix(p.String(),
			"ReferenceTimestamp")
	}, cmp.Ignore())
	fleettest.Same(t, "saved", want, got, sameTime, weight)
	if err := save(t, s, noon.Add(2*time.Minute)); err != nil || parts(t, hub)["web-0"].ResourceVersion != version {
		t.Errorf("written though nothing changed: %v", err)
	}
}

// A process that starts at any time, from what another saved, advises the same at its next pass. Of memory the running day is not
// saved; containers that use as much as before show it again.
func TestRestartAnywhere(t *testing.T) {
	for seed := range fleettest.Rounds(20, 5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			hub := newHub(t)
			steady, restarted := started(t, newHub(t), noon), started(t, hub, noon)
			type load struct{ cpu, memory int64 }
			loads := map[string]load{}
			for _, cluster := range []string{"east", "north", "west"} {
				loads[cluster] = load{100 + r.Int64N(4000), 300*mi + r.Int64N(8*gi)}
			}
			var last sizes.Advice
			restarts := 0
			for step := range 500 {
				p := at(time.Duration(step) * 20 * time.Minute)
				for cluster, load := range loads {
					if r.IntN(40) == 0 {
						p = p.silent(cluster)
						continue
					}
					var all []pod
					for n := range 3 {
						all = append(all, of(n, load.cpu/2+r.Int64N(load.cpu), load.memory))
					}
					p = p.saw(cluster, all...)
				}
				feed(t, steady, p)
				feed(t, restarted, p)
				a, b := advise(t, steady, last), advise(t, restarted, last)
				near(t, step, a, b)
				last = a.Fleet
				if r.IntN(25) == 0 {
					restarts++
					if err := save(t, restarted, p.At); err != nil {
						t.Fatal(err)
					}
					restarted = started(t, hub, p.At)
				}
			}
			if restarts == 0 {
				t.Error("it was never restarted")
			}
		})
	}
}

// near compares targets. What is saved is rounded, so one may lie in the bucket next to the other's: 5 percent.
func near(t *testing.T, step int, a, b Advice) {
	t.Helper()
	for r := range a.Fleet.Target {
		if x, y := float64(a.Fleet.Target[r]), float64(b.Fleet.Target[r]); max(x, y) > 1.06*min(x, y)+2 {
			t.Fatalf("step %d, resource %d: the target is %g, and after restarts %g", step, r, x, y)
		}
	}
	for i := range a.Clusters {
		if a.Clusters[i].Samples != b.Clusters[i].Samples || a.Clusters[i].Silent != b.Clusters[i].Silent {
			t.Fatalf("step %d: %+v, and after restarts %+v", step, a.Clusters[i], b.Clusters[i])
		}
	}
}

// Once it is saved, a history is saved and loaded without a change.
func TestSavedTwiceIsTheSame(t *testing.T) {
	hub := newHub(t)
	s, end := fedDays(t, 3)
	s.hub = hub
	now := noon.Add(end)
	var before []v1alpha1.ContainerHistory
	for range 3 {
		if err := save(t, s, now); err != nil {
			t.Fatal(err)
		}
		after := parts(t, hub)["web-0"].Status.Containers
		weight := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "TotalWeight") }, cmp.Ignore())
		if diff := cmp.Diff(before, after, weight); before != nil && diff != "" {
			t.Errorf("saved again (-before +after):\n%s", diff)
		}
		before = after
		s = started(t, hub, now)
		s.find(web()).dirty = true
	}
}

// A kill that was counted before the history was saved does not count again after a restart, and is in what was saved; one that happened
// since does.
func TestKillsAcrossARestart(t *testing.T) {
	for _, tc := range []struct {
		saved, after time.Duration
		kills        int
	}{
		{10 * time.Minute, 2 * time.Hour, 0}, {time.Minute, 2 * time.Hour, 1}, {30 * time.Hour, 30 * time.Hour, 0},
		{-time.Minute, time.Minute, 1}, {-time.Minute, 10 * time.Minute, 1},
	} {
		hub := newHub(t)
		s := started(t, hub, noon.Add(-time.Hour))
		feed(t, s, at(-time.Hour).saw("east", of(1, 100, gi)))
		if tc.saved < 0 {
			if err := save(t, s, noon.Add(tc.saved)); err != nil {
				t.Fatal(err)
			}
		}
		killed := of(1, 100, gi)
		killed.killed = noon.Add(-10 * 365 * 24 * time.Hour) // a wrong clock is wrong for both
		seen := func(after time.Duration) Pass {
			p := at(after).saw("east", killed)
			p.Uses[0].Pods[0].Measured = p.At.Add(-10 * 365 * 24 * time.Hour)
			return p
		}
		if fed := feed(t, s, seen(0)); len(fed[0].Kills) != 1 {
			t.Errorf("the kill is not seen: %+v", fed)
		}
		before := advise(t, s, sizes.Advice{}).Fleet.Target[sizes.Memory]
		if tc.saved > 0 {
			feed(t, s, seen(tc.saved))
			if err := save(t, s, noon.Add(tc.saved)); err != nil {
				t.Fatal(err)
			}
		}
		again := started(t, hub, noon.Add(tc.after))
		for range 2 {
			if fed := feed(t, again, seen(tc.after+time.Minute)); len(fed[0].Kills) != tc.kills {
				t.Errorf("saved after %v, and started after %v: kills %v, want %d", tc.saved, tc.after, fed[0].Kills, tc.kills)
			}
			tc.kills = 0
		}
		if after := advise(t, again, sizes.Advice{}).Fleet.Target[sizes.Memory]; float64(after) < 0.94*float64(before) {
			t.Errorf("saved after %v, and started after %v: %d is advised, and %d was before", tc.saved, tc.after, after, before)
		}
	}
}

// As long as what was seen since the last save is lost, no advice becomes less than what was told before; it may become more, and then
// less again.
func TestNothingBecomesLessForAsLongAsWasLost(t *testing.T) {
	for _, tc := range []struct{ lost, held time.Duration }{
		{0, 0}, {20 * time.Minute, 20 * time.Minute}, {5 * time.Hour, time.Hour}, // six periods
	} {
		hub := newHub(t)
		s := started(t, hub, noon)
		for minute := range 60 {
			feed(t, s, at(time.Duration(minute)*time.Minute).saw("east", of(1, 100, gi)))
		}
		if err := save(t, s, noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		began := time.Hour + tc.lost
		again := started(t, hub, noon.Add(began))
		last := sizes.Advice{Target: sizes.Amounts{5000, 8 * gi}, Lower: sizes.Amounts{5000, 8 * gi}, Upper: sizes.Amounts{9000, 9 * gi}}
		for after := time.Duration(0); after < 2*time.Hour; after += 10 * time.Minute {
			feed(t, again, at(began+after).saw("east", of(1, 100, gi)))
			got := advise(t, again, last)
			if held := got.Fleet.Target[sizes.CPU] == 5000; held != (after < tc.held) {
				t.Errorf("%v lost: after %v the target is %v", tc.lost, after, got.Fleet.Target)
			}
			if got.Clusters[0].Silent {
				t.Errorf("%v lost: after %v the cluster is said to be silent", tc.lost, after)
			}
		}
	}
}

// manyContainers is a store that knows so many containers in two clusters.
func manyContainers(t *testing.T, hub Hub, n int) *Store {
	t.Helper()
	s := started(t, hub, noon)
	r := rand.New(rand.NewPCG(1, 1))
	for hour := range 30 {
		p := at(time.Duration(hour)*time.Hour).saw("east", of(1, 1, 1)).saw("west", of(1, 1, 1))
		for i := range p.Uses {
			c := p.Uses[i].Pods[0].Containers[0]
			p.Uses[i].Pods[0].Containers = nil
			for k := range n {
				c.Name, c.MilliCPU, c.Memory = fmt.Sprintf("app-%04d", k), r.Int64N(100_000), r.Int64N(100*gi)
				p.Uses[i].Pods[0].Containers = append(p.Uses[i].Pods[0].Containers, c)
			}
		}
		feed(t, s, p)
	}
	return s
}

func TestParts(t *testing.T) {
	hub := newHub(t)
	s := manyContainers(t, hub, 600)
	now := noon.Add(30 * time.Hour)
	if err := save(t, s, now); err != nil {
		t.Fatal(err)
	}
	wantParts(t, hub, "web-0", "web-1")
	for name, h := range parts(t, hub) {
		if text, err := json.Marshal(h); err != nil || len(text) > v1alpha1.HistoryPartBytes {
			t.Errorf("%s is of %d bytes, %v", name, len(text), err)
		}
	}
	again := New(hub, time.Minute)
	loaded, err := again.Load(t.Context(), web(), now)
	if diff := cmp.Diff(Loaded{Containers: 1200}, loaded); diff != "" || err != nil {
		t.Errorf("loaded (-want +got):\n%s%v", diff, err)
	}
	for days := range 9 { // all but one are gone
		feed(t, again, at(30*time.Hour+time.Duration(days+1)*24*time.Hour).saw("east", of(1, 1, 1)))
	}
	if err := save(t, again, now.Add(10*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	wantParts(t, hub, "web-0")
}

// A hub that takes less than 512 KiB gets smaller parts.
func TestTooLarge(t *testing.T) {
	written := 0
	refuse := func(object client.Object) error {
		if written++; len(object.(*v1alpha1.MultidimPodAutoscalerHistory).Status.Containers) > 50 {
			return apierrors.NewRequestEntityTooLargeError("limit is 50 containers")
		}
		return nil
	}
	hub := newHub(t)
	s := manyContainers(t, faulty(hub, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := refuse(object); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
	}), 100)
	if err := save(t, s, noon.Add(30*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all := parts(t, hub); len(all) < 4 || written > 3*len(all) {
		t.Errorf("%d parts by %d writes", len(all), written)
	}
	if loaded, err := New(hub, time.Minute).Load(t.Context(), web(), noon.Add(30*time.Hour)); loaded.Containers != 200 || err != nil {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
}

// What cannot be read is reported, and stays; what is saved goes beside it.
func TestUnreadableHistory(t *testing.T) {
	change := func(of func(*v1alpha1.ContainerHistory)) func(*v1alpha1.MultidimPodAutoscalerHistory) {
		return func(h *v1alpha1.MultidimPodAutoscalerHistory) { of(&h.Status.Containers[0]) }
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.MultidimPodAutoscalerHistory)
		want   string
	}{
		"a later version": {change(func(c *v1alpha1.ContainerHistory) { c.Version = "v4" }), `checkpoint of version "v4": want v3`},
		"a bucket by name": {change(func(c *v1alpha1.ContainerHistory) { c.CPUHistogram.BucketWeights = map[string]int32{"one": 1} }),
			"histogram of CPU: bucketWeights: "},
		"a bucket that is none": {change(func(c *v1alpha1.ContainerHistory) { c.CPUHistogram.BucketWeights = map[string]int32{"200": 1} }),
			"checkpoint of CPU: bucket 200: want 0 to 175"},
		"a weight below nothing": {change(func(c *v1alpha1.ContainerHistory) { c.MemoryHistogram.BucketWeights = map[string]int32{"2": -1} }),
			"histogram of memory: bucketWeights: "},
		"no number": {change(func(c *v1alpha1.ContainerHistory) { c.CPUHistogram.TotalWeight = "much" }),
			`histogram of CPU: totalWeight "much" is not a number`},
		"the future": {change(func(c *v1alpha1.ContainerHistory) {
			c.LastSampleStart = &metav1.Time{Time: noon.Add(100 * 24 * time.Hour)}
		}),
			"which is in the future"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t)
			s := started(t, hub, noon)
			feed(t, s, at(0).saw("west", of(1, 100, gi)).saw("east", of(1, 100, gi)))
			if err := save(t, s, noon); err != nil {
				t.Fatal(err)
			}
			broken := parts(t, hub)["web-0"]
			tc.change(&broken)
			if err := hub.Update(t.Context(), &broken); err != nil {
				t.Fatal(err)
			}
			again := New(hub, time.Minute)
			loaded, err := again.Load(t.Context(), web(), noon)
			const where = "MultidimPodAutoscalerHistory shop/web-0: 1 of 2 containers cannot be read: container app in cluster east: "
			if err != nil || loaded.Containers != 1 || len(loaded.Faults) != 1 || !strings.HasPrefix(loaded.Faults[0].Error(), where) ||
				!strings.Contains(loaded.Faults[0].Error(), tc.want) {
				t.Fatalf("loaded %+v, %v, want a fault that begins with %s and says %s", loaded, err, where, tc.want)
			}
			if told, _ := again.Load(t.Context(), web(), noon); len(told.Faults) != 1 {
				t.Error("it is reported only once")
			}
			feed(t, again, at(time.Minute).saw("east", of(1, 100, gi)))
			advise(t, again, sizes.Advice{})
			if err := save(t, again, noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			wantParts(t, hub, "web-0", "web-1")
			if left := parts(t, hub)["web-0"]; left.ResourceVersion != broken.ResourceVersion {
				t.Error("what cannot be read was overwritten")
			}
		})
	}
}

func TestMissingPart(t *testing.T) {
	hub := newHub(t)
	s := manyContainers(t, hub, 600)
	now := noon.Add(30 * time.Hour)
	if err := save(t, s, now); err != nil {
		t.Fatal(err)
	}
	lost := parts(t, hub)["web-1"]
	if err := hub.Delete(t.Context(), &lost); err != nil {
		t.Fatal(err)
	}
	loaded, err := New(hub, time.Minute).Load(t.Context(), web(), now)
	if err != nil || len(loaded.Faults) != 1 || loaded.Faults[0].Error() != "part 1 of 2 is missing among the "+
		"MultidimPodAutoscalerHistories of MultidimPodAutoscaler shop/web" || loaded.Containers >= 1200 {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
}

// A hub that lists page by page is read to the end, and parts of another object are not read.
func TestPages(t *testing.T) {
	theirs := &v1alpha1.MultidimPodAutoscalerHistory{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-api-0",
		Labels: map[string]string{v1alpha1.ManagedByLabel: "u3"}}}
	hub := newHub(t, theirs)
	s := manyContainers(t, hub, 900)
	now := noon.Add(30 * time.Hour)
	if err := save(t, s, now); err != nil {
		t.Fatal(err)
	}
	wantParts(t, hub, "web-0", "web-1", "web-2", "web-api-0")
	pages := 0
	loaded, err := New(faulty(hub, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			pages++
			var o client.ListOptions
			o.ApplyOptions(options)
			if err := c.List(ctx, list, options...); err != nil {
				return err
			}
			all := list.(*v1alpha1.MultidimPodAutoscalerHistoryList)
			n := len(o.Continue)
			if n+1 < len(all.Items) {
				all.Continue = o.Continue + "+"
			}
			all.Items = all.Items[n : n+1]
			return nil
		},
	}), time.Minute).Load(t.Context(), web(), now)
	if diff := cmp.Diff(Loaded{Containers: 1800}, loaded); diff != "" || err != nil || pages != 3 {
		t.Errorf("loaded from %d pages (-want +got):\n%s%v", pages, diff, err)
	}
}

// What is older than 8 days is not taken.
func TestLoadWhatIsOld(t *testing.T) {
	hub := newHub(t)
	s := started(t, hub, noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	if err := save(t, s, noon); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]int{keep: 1, keep + time.Second: 0} {
		loaded, err := New(hub, time.Minute).Load(t.Context(), web(), noon.Add(after))
		if err != nil || loaded.Containers != want || len(loaded.Faults) > 0 {
			t.Errorf("after %v: loaded %+v, %v, want %d containers", after, loaded, err, want)
		}
	}
}

// Of a container that is in two parts, as a save that was interrupted leaves it, the later counts, and not both.
func TestTwoPartsOfOneContainer(t *testing.T) {
	hub := newHub(t)
	s := started(t, hub, noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	if err := save(t, s, noon); err != nil {
		t.Fatal(err)
	}
	older := parts(t, hub)["web-0"]
	older.Name, older.ResourceVersion, older.Status.Part = "web-1", "", 1
	if err := hub.Create(t.Context(), &older); err != nil {
		t.Fatal(err)
	}
	feed(t, s, at(time.Minute).saw("east", of(1, 100, gi)))
	if err := save(t, s, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	again := started(t, hub, noon.Add(time.Minute))
	feed(t, again, at(2*time.Minute).saw("east"))
	if a := advise(t, again, sizes.Advice{}); a.Samples != 2 {
		t.Errorf("%d samples, want 2", a.Samples)
	}
}

// Two processes that are both leader for a moment do not overwrite each other at once, and say so.
func TestConflict(t *testing.T) {
	hub := newHub(t)
	s := started(t, hub, noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	other := started(t, hub, noon)
	feed(t, other, at(0).saw("east", of(1, 100, gi)).saw("west", of(1, 100, gi)))
	if err := save(t, other, noon); err != nil {
		t.Fatal(err)
	}
	const want = "saving the history of MultidimPodAutoscaler shop/web: MultidimPodAutoscalerHistory shop/web-0: another process has " +
		"written it, at 2026-11-22T12:00:00Z; the next save overwrites that"
	if err := save(t, s, noon.Add(time.Minute)); err == nil || err.Error() != want {
		t.Errorf("as both create it: %v, want %s", err, want)
	}
	if n := len(parts(t, hub)["web-0"].Status.Containers); n != 2 {
		t.Errorf("%d containers, want the 2 of the other", n)
	}
	if err := save(t, s, noon.Add(2*time.Minute)); err != nil {
		t.Error(err)
	}
	feed(t, other, at(time.Minute).saw("east", of(1, 100, gi)))
	if err := save(t, other, noon.Add(3*time.Minute)); err == nil || !strings.Contains(err.Error(), "at 2026-11-22T12:02:00Z") {
		t.Errorf("as both write it: %v", err)
	}
	if n := len(parts(t, hub)["web-0"].Status.Containers); n != 1 {
		t.Errorf("%d containers, want the 1 that was written last", n)
	}
	wantParts(t, hub, "web-0")
}

// An object of somebody else stays; another name is used.
func TestNameIsTaken(t *testing.T) {
	theirs := &v1alpha1.MultidimPodAutoscalerHistory{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}}
	hub := newHub(t, theirs)
	s := started(t, hub, noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	if err := save(t, s, noon); err != nil {
		t.Fatal(err)
	}
	wantParts(t, hub, "web-0", "web-1")
	if len(parts(t, hub)["web-0"].Status.Containers) > 0 || len(parts(t, hub)["web-1"].Status.Containers) != 1 {
		t.Error("another's object was overwritten")
	}
}

// Who deletes a history has it forgotten. A part alone is written again.
func TestDeleted(t *testing.T) {
	hub := newHub(t)
	s := manyContainers(t, hub, 600)
	now := noon.Add(30 * time.Hour)
	if err := save(t, s, now); err != nil {
		t.Fatal(err)
	}
	one := parts(t, hub)["web-0"]
	if err := hub.Delete(t.Context(), &one); err != nil {
		t.Fatal(err)
	}
	feed(t, s, at(30*time.Hour).saw("east", of(1, 100, gi)))
	if err := save(t, s, now); err != nil {
		t.Fatal(err)
	}
	wantParts(t, hub, "web-0", "web-1")
	if loaded, err := New(hub, time.Minute).Load(t.Context(), web(), now); err != nil || loaded.Containers != 1201 || len(loaded.Faults) > 0 {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	for _, h := range parts(t, hub) {
		if err := hub.Delete(t.Context(), &h); err != nil {
			t.Fatal(err)
		}
	}
	feed(t, s, at(30*time.Hour+time.Minute).saw("east", of(1, 100, gi)))
	const want = "saving the history of MultidimPodAutoscaler shop/web: it was deleted on the hub, so it is forgotten"
	if err := save(t, s, now); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	wantParts(t, hub)
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: no cluster has been asked since its history was loaded")
	feed(t, s, at(31*time.Hour).saw("east", of(1, 100, gi)))
	if a := advise(t, s, sizes.Advice{}); a.Samples != 1 {
		t.Errorf("%d samples, want 1", a.Samples)
	}
	if err := save(t, s, now); err != nil {
		t.Error(err)
	}
	wantParts(t, hub, "web-0")
}

func TestHubFails(t *testing.T) {
	down := errors.New("the hub is not well")
	failing := true
	hub := newHub(t)
	s := New(faulty(hub, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a list without a deadline")
			}
			if failing {
				return down
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a write without a deadline")
			}
			if failing {
				return down
			}
			return c.Create(ctx, object, options...)
		},
	}), time.Minute)
	if _, err := s.Load(t.Context(), web(), noon); err == nil || !errors.Is(err, down) {
		t.Errorf("loading: %v", err)
	}
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: its history has not been loaded: "+
		"listing MultidimPodAutoscalerHistories: the hub is not well")
	failing = false
	if _, err := s.Load(t.Context(), web(), noon); err != nil {
		t.Fatal(err)
	}
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	failing = true
	const want = "saving the history of MultidimPodAutoscaler shop/web: MultidimPodAutoscalerHistory shop/web-0: the hub is not well"
	if err := save(t, s, noon); err == nil || err.Error() != want {
		t.Errorf("saving: %v, want %s", err, want)
	}
	failing = false
	if err := save(t, s, noon); err != nil || len(parts(t, hub)) != 1 {
		t.Errorf("what could not be saved is not saved later: %v", err)
	}
}

// Many objects are fed and advised on while they are saved, and come and go.
func TestAllAtOnce(t *testing.T) {
	hub := newHub(t)
	s := New(hub, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for minute := range 50 {
				owner := Owner{"shop", of(n, 0, 0).name, types.UID(fmt.Sprint(n, minute/20)), ""}
				_, err := s.Load(t.Context(), owner, noon)
				p := at(time.Duration(minute)*time.Minute).saw("east", of(1, 100, gi)).saw("west", of(1, 100, gi))
				_, faults := s.Feed(owner, p)
				_, refused := s.Advise(owner, []Wanted{{Container: "app", Options: options()}})
				if err := errors.Join(err, faults, refused); err != nil {
					t.Error(err)
				}
				if minute%20 == 19 && n%2 == 0 {
					s.Forget("shop", owner.Name)
				}
			}
		})
	}
	group.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if saved := len(parts(t, hub)); saved < 8 {
		t.Errorf("%d histories are saved, want 8 at least", saved)
	}
}

// Histories are saved in time, and as the program ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newHub(t)
		s := New(hub, 10*time.Minute)
		if _, err := s.Load(t.Context(), web(), time.Now()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		feed(t, s, Pass{At: time.Now()}.saw("east", of(1, 100, gi)))
		time.Sleep(9 * time.Minute)
		wantParts(t, hub)
		time.Sleep(90 * time.Second)
		wantParts(t, hub, "web-0")
		version := parts(t, hub)["web-0"].ResourceVersion
		feed(t, s, Pass{At: time.Now()}.saw("east", of(1, 100, gi)))
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if parts(t, hub)["web-0"].ResourceVersion == version {
			t.Error("nothing was saved as it ended")
		}
	})
}

// The more is known of every container, the less often it is saved; but a kill is saved soon, and what could not be.
func TestSavedLessOften(t *testing.T) {
	long, short := 30*24*time.Hour, at(0).saw("east", of(1, 100, gi))
	for name, tc := range map[string]struct {
		known time.Duration
		more  Pass // beside east
		fails bool
		want  time.Duration
	}{
		"nothing known before": {0, short, false, 10 * time.Minute},
		"four hours":           {4 * time.Hour, short, false, 11 * time.Minute}, // by then more is known
		"twelve hours":         {12 * time.Hour, short, false, 32 * time.Minute},
		"a day":                {24 * time.Hour, short, false, time.Hour},
		"a month":              {long, short, false, time.Hour},
		"a cluster is new":     {long, at(0).saw("east", of(1, 100, gi)).saw("west", of(1, 100, gi)), false, 10 * time.Minute},
		"a kill":               {long, at(0).saw("east", pod{name: "web-1", cpu: 100, memory: gi, killed: noon}), false, 3 * time.Minute},
		"it was not saved":     {long, short, true, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			failing := false
			s := started(t, faulty(newHub(t), interceptor.Funcs{
				Update: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.UpdateOption) error {
					if failing {
						return errors.New("no answer")
					}
					return c.Update(ctx, object, o...)
				},
			}), noon)
			feed(t, s, at(0).saw("east", of(1, 100, gi)))
			end := tc.known
			feed(t, s, at(end).saw("east", of(1, 100, gi)))
			s.saveAll(t.Context(), noon.Add(end), every)
			m := s.find(web())
			if m.isDue(noon.Add(end+time.Hour), s.period, true) {
				t.Error("nothing was added, and it is saved")
			}
			tc.more.At = noon.Add(end + time.Second)
			for i := range tc.more.Uses {
				for n := range tc.more.Uses[i].Pods {
					tc.more.Uses[i].Pods[n].Measured = tc.more.At
				}
			}
			feed(t, s, tc.more)
			if failing = tc.fails; failing {
				s.saveAll(t.Context(), noon.Add(end+time.Minute), every)
			}
			first := time.Duration(0)
			for after := time.Minute; after <= 2*time.Hour && first == 0; after += time.Minute {
				if m.isDue(noon.Add(end+after), s.period, false) {
					first = after
				}
			}
			if first != tc.want {
				t.Errorf("it is due after %v, want %v", first, tc.want)
			}
		})
	}
}

// Who gives objects to another process saves theirs, due or not, and no others.
func TestSaveOfSome(t *testing.T) {
	s := started(t, newHub(t), noon)
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	m := s.find(web())
	s.Save(t.Context(), func(key types.NamespacedName) bool { return key != web().key() })
	if !m.isDue(noon, s.period, true) {
		t.Error("the history of another object was saved")
	}
	s.Save(t.Context(), func(key types.NamespacedName) bool { return key == web().key() })
	if m.isDue(noon, s.period, true) {
		t.Error("the history was not saved")
	}
}
