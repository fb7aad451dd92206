// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

// forAll is true of a request for the pods of all namespaces.
func forAll(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/v1beta1/pods") }

func manyNamespaces(namespaces, podsInEach int) (all []metricsv1beta1.PodMetrics) {
	for i := range namespaces {
		all = append(all, pods(fmt.Sprintf("ns-%03d", i), podsInEach)...)
	}
	return all
}

func namesOf(namespaces int) (all []string) {
	for i := range namespaces {
		all = append(all, fmt.Sprintf("ns-%03d", i))
	}
	return all
}

func (f *fleetOf) askAbout(t *testing.T, namespaces int) {
	t.Helper()
	for _, namespace := range namesOf(namespaces) {
		f.Pods(t.Context(), inNamespace(namespace))
	}
}

// pass lets time go by. It is a bubble's time, which moves on at once when all in it
// wait: nothing here takes real time, and how busy the machine is changes nothing.
func pass(d time.Duration) { time.Sleep(d) }

// passAskedAbout lets periods go by in which the namespaces stay hot.
func (f *fleetOf) passAskedAbout(t *testing.T, namespaces, periods int) {
	t.Helper()
	for range periods {
		f.askAbout(t, namespaces)
		pass(resolution)
	}
}

// After a start all namespaces are asked about at one time: those that come while a few are asked for come with one list.
func TestManyNewNamespacesAreAskedForTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 200
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			pass(10 * time.Millisecond)
			return east.list(r)
		}
		f := startStoreOf(t, namespaces, east)
		f.justAfterARound()
		before := east.asks()
		all := namesOf(namespaces)
		f.touchAll(all)
		pass(time.Second)
		if asked := east.asks() - before; asked > namespaces/4 {
			t.Errorf("%d requests for %d namespaces", asked, namespaces)
		}
		for _, namespace := range all {
			if got := f.coverage(t, namespace); got != "answered=east" {
				t.Errorf("%s: coverage %q", namespace, got)
			}
		}
	})
}

// Clients that ask for one namespace after the other, as an HPA controller does, have the later ones from a list of all.
func TestNamespacesThatComeOneByOneAreInOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 100
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		f := startStoreOf(t, namespaces+1, east)
		f.justAfterARound()
		before := east.asks()
		f.askAbout(t, namespaces)
		if asked, want := east.asks()-before, int64(fewNamespaces+1+1); asked != want {
			t.Errorf("%d requests for %d namespaces, want %d", asked, namespaces, want)
		}
		for i := range namespaces {
			if got := names(f.Pods(t.Context(), inNamespace(fmt.Sprintf("ns-%03d", i)))); len(got) != 3 {
				t.Errorf("namespace %d: %v", i, got)
			}
		}
		scraper := f.scrapers["east"]
		if held, whole := f.o.Memory.Bytes(), scraper.latest.Bytes(); whole == 0 || held != whole+bytesOf(scraper) {
			t.Errorf("%d bytes are said to be held, %d of them a list", held, whole)
		}

		pass(resolution) // a round, in which it is listed again, for others that may come
		synctest.Wait()
		if !scraper.latest.isKept(time.Now(), resolution, f.o.Memory) {
			t.Error("no list is kept after a period in which namespaces came")
		}
		pass(resolution)
		synctest.Wait()
		if scraper.latest.Bytes() > 0 || f.o.Memory.Bytes() != bytesOf(scraper) {
			t.Errorf("%d bytes are held, %d of them a list, after a period without new namespaces", f.o.Memory.Bytes(), scraper.latest.Bytes())
		}
		for k, target := range scraper.targets {
			if target.batch.part {
				t.Errorf("%s keeps a whole list in memory", k.namespace)
			}
		}
	})
}

func batchOf(t *testing.T, pods ...metricsv1beta1.PodMetrics) *Batch {
	t.Helper()
	b, err := key{resource: podsResource}.decode(protobufOf(&metricsv1beta1.PodMetricsList{Items: pods}), contentTypeProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func bytesOf(s *scraper) (n int64) {
	for _, t := range s.targets {
		n += t.Bytes()
	}
	return n
}

// membersThatList do that before they give a list of all.
func membersThatList(members, namespaces int, before func()) (all []Source) {
	for i := range members {
		m := newFakeMember(fmt.Sprintf("m-%03d", i), manyNamespaces(namespaces, 1)...)
		m.Handle = func(r *http.Request) (*http.Response, error) {
			if forAll(r) {
				before()
			}
			return m.list(r)
		}
		all = append(all, m)
	}
	return all
}

// Whoever asks for what is new asks all members for a list at one time; few of these are under way at any moment, and the deadlines of the
// others have not begun.
func TestFewListsAtOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members, namespaces = 3 * listsAtOnce, 2 * fewNamespaces
		var now, most, lists atomic.Int64
		f := startStoreOf(t, namespaces, membersThatList(members, namespaces, func() {
			lists.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			pass(time.Second)
			now.Add(-1)
		})...)
		f.justAfterARound()
		f.touchAll(namesOf(namespaces))
		pass(9 * time.Second)
		synctest.Wait()
		if most.Load() != listsAtOnce || lists.Load() != members {
			t.Errorf("%d lists, %d of them at one time; want %d, and %d", lists.Load(), most.Load(), members, listsAtOnce)
		}
		for _, namespace := range namesOf(namespaces) {
			if c := f.Pods(t.Context(), inNamespace(namespace)).Coverage(); len(c.Silent) > 0 {
				t.Errorf("%s: %s", namespace, c.Header())
			}
		}
	})
}

// Members that take long for a list, though they are in time, are not kept from answering by their number.
func TestManySlowListsStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members, namespaces = 10 * listsAtOnce, fewNamespaces + 4
		f := startStoreOf(t, namespaces, membersThatList(members, namespaces, func() { pass(4 * time.Second) })...) // of the 5 it may take
		f.justAfterARound()
		f.touchAll(namesOf(namespaces))
		pass(2 * time.Minute)
		for _, namespace := range namesOf(namespaces) {
			if silent := f.Pods(t.Context(), inNamespace(namespace)).Coverage().Silent; len(silent) > 0 {
				t.Errorf("%s: %d of %d members are silent", namespace, len(silent), members)
			}
		}
	})
}

// What comes while a list is asked for is answered from it, also where its asker took it before.
func TestWhatWasTakenBeforeIsInTheList(t *testing.T) {
	for name, tc := range map[string]struct{ list, later time.Duration }{
		"the list comes after the pilot's answer": {3 * time.Second, 500 * time.Millisecond},
		"and before": {500 * time.Millisecond, 900 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const namespaces = 100
				var lists atomic.Int64
				east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
				east.Handle = func(r *http.Request) (*http.Response, error) {
					if forAll(r) {
						lists.Add(1)
						pass(tc.list)
					} else {
						pass(time.Second)
					}
					return east.list(r)
				}
				f := startStoreOf(t, namespaces, east)
				f.justAfterARound()
				all := namesOf(namespaces)
				f.askAbout(t, fewNamespaces)
				before := east.asks()
				f.touchAll(all[:fewNamespaces+1]) // whose answer makes a list worth it
				pass(tc.later)
				f.touchAll(all)
				pass(5*time.Second - tc.later)
				asked, most := east.asks()-before, int64(1+1+asksAtOnce-1) // with a pilot for each of the other askers
				if asked > most || lists.Load() != 1 {
					t.Errorf("%d requests for %d namespaces, %d of them lists of all; want %d at most, and one", asked, namespaces, lists.Load(), most)
				}
			})
		})
	}
}

func TestListOfAMemberThatLeftIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 2 * fewNamespaces
		f := startStoreOf(t, namespaces, newFakeMember("east", manyNamespaces(namespaces, 3)...))
		f.justAfterARound()
		f.askAbout(t, namespaces)
		if f.scrapers["east"].latest.Bytes() == 0 {
			t.Fatal("no list is kept")
		}
		f.setMembers()
		synctest.Wait()
		if held := f.o.Memory.Bytes(); held > 0 {
			t.Errorf("%d bytes are held of a member that left", held)
		}
	})
}

// A list answers for a period only, and as the samples in it are as old as it is.
func TestListIsKeptForAPeriod(t *testing.T) {
	var l latest
	m := memory.New(1<<20, memory.NewMetrics(prometheus.NewRegistry()))
	sent := time.Now()
	l.keep(attempt{sent: sent, batch: batchOf(t, manyNamespaces(3, 2)...)}, m)
	part, known := l.of("ns-001", sent.Add(resolution), resolution)
	if !known || part.batch.Len() != 2 || !part.sent.Equal(sent) {
		t.Errorf("%v, %d Pods, taken %v after the list", known, part.batch.Len(), part.sent.Sub(sent))
	}
	if _, known := l.of("ns-001", sent.Add(resolution+1), resolution); known {
		t.Error("an older list answers")
	}
	if !l.isKept(sent.Add(resolution), resolution, m) || l.isKept(sent.Add(resolution+1), resolution, m) || m.Bytes() > 0 {
		t.Errorf("a list that is too old is kept: %d bytes", m.Bytes())
	}
	l.leave(m)
	l.keep(attempt{sent: sent, batch: batchOf(t, pods("shop", 1)...)}, m)
	if m.Bytes() > 0 {
		t.Errorf("%d bytes are kept of a member that left", m.Bytes())
	}
}

// Where there is no room for a list beside what somebody wants, it goes, and what targets have of it is theirs.
func TestListThatThereIsNoRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 40
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if forAll(r) {
				pass(time.Second) // for others to come meanwhile
			}
			return east.list(r)
		}
		f := startStoreIn(t, 60*3*namespaces, namespaces+1, east)
		f.justAfterARound()
		f.touchAll(namesOf(namespaces))
		pass(3 * time.Second)
		synctest.Wait()
		scraper := f.scrapers["east"]
		if east.lists() == 0 || scraper.latest.Bytes() > 0 {
			t.Fatalf("a list of %d bytes is kept, of %d", scraper.latest.Bytes(), east.lists())
		}
		for k, target := range scraper.targets {
			if target.batch != nil && target.batch.part {
				t.Errorf("%s keeps a whole list in memory", k.namespace)
			}
		}
	})
}

// What targets have of a list that had to go later is theirs after the next round, also where the member is away then.
func TestListThatHadToGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 40
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		f := startStoreOf(t, namespaces+1, east)
		f.justAfterARound()
		f.askAbout(t, namespaces)
		scraper := f.scrapers["east"]
		if scraper.latest.Bytes() == 0 {
			t.Fatal("no list is kept")
		}
		scraper.latest.Forget()
		east.Set(func() { east.Handle = refuse(503) })
		pass(resolution)
		synctest.Wait()
		for k, target := range scraper.targets {
			if target.batch != nil && target.batch.part {
				t.Errorf("%s keeps a whole list in memory", k.namespace)
			}
		}
	})
}

// lists are the requests for the pods of all namespaces so far.
func (m *fakeMember) lists() (n int) {
	for _, q := range m.queries() {
		if strings.HasSuffix(q, "/v1beta1/pods") {
			n++
		}
	}
	return n
}

// A list that there is no room for answers nobody who comes later, and is not asked for again for each of them.
func TestListThatThereIsNoRoomForIsNotAskedForTimeAfterTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 100
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		f := startStoreIn(t, 60*3*namespaces, namespaces+1, east)
		f.justAfterARound()
		f.askAbout(t, namespaces)
		if lists := east.lists(); lists > namespaces/fewNamespaces {
			t.Errorf("%d lists of all for %d namespaces", lists, namespaces)
		}
	})
}

// Selectors, which a list of all does not answer, are no reason to ask for another while one is kept.
func TestSelectorsAreNoReasonForAnotherList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 20
		all := manyNamespaces(namespaces, 3)
		for i := range all {
			all[i].Labels = nil
		}
		east := newFakeMember("east", all...)
		f := startStoreOf(t, 10*namespaces, east)
		f.justAfterARound()
		f.askAbout(t, namespaces)
		for _, namespace := range namesOf(namespaces) {
			f.Pods(t.Context(), Question{Namespace: namespace, Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Clusters: everywhere})
		}
		if lists := east.lists(); lists != 1 {
			t.Errorf("%d lists of all, want 1", lists)
		}
	})
}

// Nodes are in no list of pods, so they do not wait for one.
func TestNodesDoNotWaitForAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 20
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if forAll(r) {
				pass(4 * time.Second)
			}
			return east.list(r)
		}
		f := startStoreOf(t, 2*namespaces, east)
		f.justAfterARound()
		f.touchAll(namesOf(namespaces))
		pass(time.Second)
		start := time.Now()
		answer := f.Nodes(t.Context(), Question{Selector: labels.Everything(), Clusters: everywhere})
		if took := time.Since(start); took > 0 || len(answer.Coverage().Silent) > 0 {
			t.Errorf("after %v: %s", took, answer.Coverage().Header())
		}
	})
}

// A namespace that a member hangs on fails none of those that wait for a list that is on its way.
func TestWhoWaitsForAListIsNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 20
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		east.Handle = func(r *http.Request) (*http.Response, error) {
			switch {
			case about("slow")(r):
				<-r.Context().Done()
				return nil, r.Context().Err()
			case forAll(r):
				pass(4 * time.Second)
			}
			return east.list(r)
		}
		f := startStoreOf(t, 2*namespaces, east)
		f.justAfterARound()
		f.touchAll([]string{"slow"})
		pass(3 * time.Second)
		f.touchAll(namesOf(namespaces))
		pass(time.Second)
		if got := f.coverage(t, "late"); got != "answered=east" {
			t.Errorf("coverage %q", got)
		}
	})
}

func TestManyNamespacesAreAskedForAtOnce(t *testing.T) {
	tests := map[string]struct {
		hot, others int // namespaces of 3 pods, and pods that nobody asks for
		refuse      func(*http.Request) (*http.Response, error)
		most        int // requests per period
	}{
		"a few, one by one":            {hot: 9, most: 9},
		"a few more, at once":          {hot: 10, most: 3},
		"a hundred, at once":           {hot: 100, most: 3},
		"with others that cost little": {hot: 20, others: 900, most: 3},
		"with others that cost much":   {hot: 20, others: 1100, most: 20},
		"where it is forbidden":        {hot: 20, refuse: refuse(403), most: 20},
		"where it takes too long":      {hot: 20, refuse: memberstest.Hang, most: 20},
		"where there is no such list":  {hot: 20, refuse: refuse(404), most: 20},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east", append(manyNamespaces(tc.hot, 3), pods("other", tc.others)...)...)
				east.Handle = func(r *http.Request) (*http.Response, error) {
					if forAll(r) && tc.refuse != nil {
						return tc.refuse(r)
					}
					return east.list(r)
				}
				f := startStoreOf(t, 200, east)
				synctest.Wait()
				f.askAbout(t, tc.hot)
				pass(3 * resolution) // it has been tried
				const periods = 15
				before := east.asks()
				pass(periods * resolution)
				asked := float64(east.asks()-before) / periods
				const searching = 2 // for the beat, at times
				if asked > float64(tc.most+searching) || asked < float64(tc.most)/2 {
					t.Errorf("asked %.1f times per period for %d namespaces, want %d", asked, tc.hot, tc.most)
				}
				for i := range tc.hot {
					if got := names(f.Pods(t.Context(), inNamespace(fmt.Sprintf("ns-%03d", i)))); len(got) != 3 {
						t.Errorf("namespace %d: %v", i, got)
					}
				}
			})
		})
	}
}

// An adapter that has just started is asked for more and more namespaces. That
// few were worth less than all of them says nothing of many.
func TestNamespacesThatAreAskedForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const few, many, podsInEach = 9, 20, 100
		east := newFakeMember("east", manyNamespaces(many, podsInEach)...)
		f := startStoreOf(t, 200, east)
		synctest.Wait()
		f.askAbout(t, few)
		pass(3 * resolution)
		f.askAbout(t, many)
		pass(3 * resolution)
		before := east.asks()
		const periods = 5
		pass(periods * resolution)
		if asked := float64(east.asks()-before) / periods; asked > 5 { // three, and some that search for the beat
			t.Errorf("asked %.1f times per period for %d namespaces", asked, many)
		}
	})
}

// One list of all that is late must not cost a request for each namespace for long; one that never comes must not be tried forever.
func TestAListOfAllThatFailedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 20
		east := newFakeMember("east", manyNamespaces(namespaces, 3)...)
		var ofAll, late atomic.Int64
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if !forAll(r) {
				return east.list(r)
			}
			ofAll.Add(1)
			if late.Add(-1) >= 0 {
				return memberstest.Hang(r)
			}
			return east.list(r)
		}
		f := startStoreOf(t, 200, east)
		synctest.Wait()
		f.askAbout(t, namespaces)
		pass(3 * resolution)
		asked := func(periods int) (each, whole float64) {
			asks, all := east.asks(), ofAll.Load()
			f.passAskedAbout(t, namespaces, periods)
			return float64(east.asks()-asks) / float64(periods), float64(ofAll.Load()-all) / float64(periods)
		}
		late.Store(2)
		f.passAskedAbout(t, namespaces, 8)
		if each, _ := asked(10); each > 5 {
			t.Errorf("asked %.1f times per period after two lists of all were late", each)
		}
		late.Store(1 << 30)
		f.passAskedAbout(t, namespaces, 200)
		if _, whole := asked(200); whole > 0.01 {
			t.Errorf("a list that never comes is asked for %.2f times per period", whole)
		}
		late.Store(0)
		f.passAskedAbout(t, namespaces, 600)
		if each, _ := asked(10); each > 5 {
			t.Errorf("asked %.1f times per period once lists of all come again", each)
		}
	})
}

// What is served must not depend on how it was asked for.
func TestAskedForAtOnceOrOneByOneIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const namespaces = 30
		all := append(manyNamespaces(namespaces, 2), pods("a", 5)...)
		all = append(all, pods("ns-0051", 4)...) // their names begin as a hot one's does
		all = append(all, pods("ns-005-a", 4)...)
		slices.SortStableFunc(all, func(a, b metricsv1beta1.PodMetrics) int { return strings.Compare(a.Namespace, b.Namespace) })
		for i := range all {
			if i%3 == 0 {
				all[i].Containers = all[i].Containers[:1]
			}
		}
		atOnce, apart := newFakeMember("east", all...), newFakeMember("east", all...)
		apart.Handle = func(r *http.Request) (*http.Response, error) {
			if forAll(r) {
				return refuse(403)(r)
			}
			return apart.list(r)
		}
		together, alone := startStoreOf(t, 200, atOnce), startStoreOf(t, 200, apart)
		synctest.Wait()
		together.askAbout(t, namespaces+1) // one of them has no pods
		alone.askAbout(t, namespaces+1)
		pass(4 * resolution)
		queries := atOnce.queries()
		last := queries[len(queries)-5:] // the very last may have gone to a pilot only
		if !slices.ContainsFunc(last, func(query string) bool { return strings.HasSuffix(query, "/v1beta1/pods") }) {
			t.Fatalf("the last questions were %v", last)
		}
		for i := range namespaces + 1 {
			q := inNamespace(fmt.Sprintf("ns-%03d", i))
			if diff := cmp.Diff(alone.written(t, q), together.written(t, q)); diff != "" {
				t.Errorf("namespace %d (-one by one +at once):\n%s", i, diff)
			}
		}
	})
}

func (f *fleetOf) written(t *testing.T, q Question) (all []string) {
	t.Helper()
	a := f.Pods(t.Context(), q)
	all = append(all, a.Coverage().Header())
	for _, cluster := range a.Coverage().Answered {
		s := a.Values[cluster]
		for i := range s.Len() {
			line := fmt.Sprintf("%s/%s/%s %v", cluster, s.At(i).Namespace(), s.At(i).Name(), s.At(i).Window())
			for name, used := range s.At(i).Containers() {
				line += fmt.Sprint(" ", name, used.list())
			}
			all = append(all, line)
		}
	}
	return all
}

// Age counts from when a member was asked, however long it took to answer.
func TestAgeCountsFromTheQuestion(t *testing.T) {
	for name, namespaces := range map[string]int{"one by one": 3, "at once": 20} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const takes = 2 * time.Second
				east := newFakeMember("east", manyNamespaces(namespaces, 1)...)
				east.Handle = func(r *http.Request) (*http.Response, error) {
					pass(takes)
					return east.list(r)
				}
				f := startStoreOf(t, 200, east)
				f.justAfterARound()
				start := time.Now()
				for i := range namespaces {
					f.touch(key{resource: podsResource, namespace: fmt.Sprintf("ns-%03d", i)}, nil)
				}
				pass(resolution + 2*takes) // one round, a pilot and the others
				synctest.Wait()
				if len(f.scrapers["east"].targets) != namespaces {
					t.Fatalf("%d targets", len(f.scrapers["east"].targets))
				}
				for k, target := range f.scrapers["east"].targets {
					_, age := target.size(start.Add(resolution + 2*takes))
					if age < takes || age > resolution {
						t.Errorf("%s: the age is %v, want at least the %v that an answer takes", k.namespace, age, takes)
					}
				}
			})
		})
	}
}

// A member that goes away while it is asked at once becomes silent, and comes back, as any other.
func TestAskedForAtOnceThenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", manyNamespaces(20, 1)...)
		f := startStoreOf(t, 200, east)
		synctest.Wait()
		f.askAbout(t, 20)
		pass(3 * resolution)
		east.Set(func() { east.Handle = refuse(503) })
		pass(6 * resolution) // more than a minute
		for _, namespace := range []string{"ns-000", "ns-019"} {
			if got, want := f.Pods(t.Context(), inNamespace(namespace)).Coverage().Header(), "silent=east:ServerError"; got != want {
				t.Errorf("%s: coverage %q, want %q", namespace, got, want)
			}
		}
		east.Set(func() { east.Handle = nil })
		pass(3 * resolution)
		for _, namespace := range []string{"ns-000", "ns-019"} {
			if got := names(f.Pods(t.Context(), inNamespace(namespace))); len(got) != 1 {
				t.Errorf("%s: %v once the member is back", namespace, got)
			}
		}
	})
}

func TestWhatOnceWasDearIsTriedAgain(t *testing.T) {
	var x together
	if !x.worthwhile(fewNamespaces+1, 0) || x.worthwhile(fewNamespaces, 0) {
		t.Error("it is not tried where many are asked for, or where few are")
	}
	x.listed(10_000)
	if x.worthwhile(100, 1_000) || !x.worthwhile(200, 1_000) {
		t.Error("9 000 pods that nobody asked for are worth 180 requests")
	}
	x.listed(9_500)
	for range 45 * time.Minute / resolution {
		x.nextRound()
	}
	if x.all < 4_500 || x.all > 5_000 {
		t.Errorf("what was dear counts for %d of 9 500 pods after 45 minutes, want half", x.all)
	}
	x.listed(9*podsPerRequest + 1)
	if x.worthwhile(9, 0) {
		t.Error("a pod too many does not count")
	}
	if !x.worthwhile(9, 1) {
		t.Error("as much as the requests cost is too much")
	}
}

func TestWhatFailedIsTriedAgainLessAndLessOften(t *testing.T) {
	var x together
	roundsUntilTried := func() (n int) {
		for x.nextRound(); !x.worthwhile(20, 0); x.nextRound() {
			n++
		}
		return n
	}
	for _, want := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 256} {
		x.failed()
		if got := roundsUntilTried(); got != want {
			t.Errorf("retried after %d rounds, want %d", got, want)
		}
	}
	x.listed(60)
	if got := roundsUntilTried(); got != 0 {
		t.Errorf("what was answered is retried after %d rounds", got)
	}
	x.failed()
	if got := roundsUntilTried(); got != 1 {
		t.Errorf("the first failure since is retried after %d rounds, want one", got)
	}
}
