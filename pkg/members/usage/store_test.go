// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func TestFirstQuestionAsksEveryMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 2)...), newFakeMember("west", pods("shop", 1)...)
		f := startStore(t, east, west)
		synctest.Wait()
		want := []string{"east/shop/web-0", "east/shop/web-1", "west/shop/web-0"}
		fleettest.Same(t, "pods", want, names(f.Pods(t.Context(), inNamespace("shop"))))
		if east.asks() != 1 || west.asks() != 1 {
			t.Errorf("asked east %d and west %d times, want once each", east.asks(), west.asks())
		}
	})
}

func TestWarmQuestionsAskNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 2)...), newFakeMember("west", pods("shop", 1)...)
		f := startStore(t, east, west)
		synctest.Wait()
		first := f.Pods(t.Context(), inNamespace("shop"))
		west.Set(func() { west.Handle = memberstest.Hang })
		before := east.asks() + west.asks()
		start := time.Now()
		for range 1000 {
			if diff := cmp.Diff(names(first), names(f.Pods(t.Context(), inNamespace("shop")))); diff != "" {
				t.Fatalf("pods (-first +now):\n%s", diff)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("1000 warm questions waited %v, want no waiting at all", waited)
		}
		if asked := east.asks() + west.asks() - before; asked != 0 {
			t.Errorf("1000 warm questions put %d questions to members, want none", asked)
		}
	})
}

func TestMemberThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 1)...), newFakeMember("west", pods("shop", 1)...)
		west.Handle = memberstest.Hang
		f := startStore(t, east, west)
		synctest.Wait()
		start := time.Now()
		cold := f.Pods(t.Context(), inNamespace("shop"))
		if waited := time.Since(start); waited != 5*time.Second {
			t.Errorf("the first question waited %v, want the member's deadline of 5 s", waited)
		}
		if got, want := cold.Coverage().Header(), "answered=east;silent=west:Timeout"; got != want {
			t.Errorf("coverage %q, want %q", got, want)
		}
		start = time.Now()
		f.Pods(t.Context(), inNamespace("shop"))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the second question waited %v, want no waiting", waited)
		}
	})
}

func TestSamplesAreServedUntilTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 1)...), newFakeMember("west", pods("shop", 1)...)
		f := startStore(t, east, west)
		synctest.Wait()
		f.Pods(t.Context(), inNamespace("shop"))
		west.Set(func() { west.Handle = memberstest.Hang })
		lastAsked := time.Now()
		for {
			pass(time.Second)
			coverage := f.Pods(t.Context(), inNamespace("shop")).Coverage()
			if len(coverage.Silent) == 0 {
				continue
			}
			if age := time.Since(lastAsked); age < time.Minute || age > time.Minute+resolution {
				t.Errorf("west went silent after %v, want after a minute and at most a period", age)
			}
			if got, want := coverage.Header(), "answered=east;silent=west:Timeout"; got != want {
				t.Errorf("coverage %q, want %q", got, want)
			}
			break
		}
		west.Set(func() { west.Handle = nil })
		pass(2*resolution + 5*time.Second)
		if got, want := f.Pods(t.Context(), inNamespace("shop")).Coverage().Header(), "answered=east,west"; got != want {
			t.Errorf("coverage %q once west answers again, want %q", got, want)
		}
	})
}

func TestMemberThatIsReadyAgainIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		east.Silent = &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "connection refused"}
		f := startStore(t, east)
		synctest.Wait()
		a := f.Pods(t.Context(), inNamespace("shop"))
		if got, want := a.Coverage().Warning(), "1 of 1 cluster did not answer: east (Unreachable: connection refused)"; got != want {
			t.Errorf("warning %q, want %q", got, want)
		}
		if asked := east.asks(); asked != 0 {
			t.Errorf("a member known to be away was asked %d times, want never", asked)
		}
		east.Set(func() { east.Silent = nil })
		f.MembersChanged()
		synctest.Wait()
		if got := names(f.Pods(t.Context(), inNamespace("shop"))); len(got) != 1 {
			t.Errorf("pods %v without any time gone by since the member is ready, want one", got)
		}
	})
}

func TestWhatAMembersRefusalCountsAs(t *testing.T) {
	tests := map[string]struct {
		handle func(*http.Request) (*http.Response, error)
		want   string
	}{
		"without the API it answers: has none": {refuse(404), "answered=east;absent=east"},
		"403 is silent":                        {refuse(403), "silent=east:Forbidden"},
		"503 is silent":                        {refuse(503), "silent=east:ServerError"},
		"what is not a list is silent": {func(*http.Request) (*http.Response, error) {
			return memberstest.Respond(200, "text/html", []byte("<html>")), nil
		}, "silent=east:BadAnswer"},
		"protobuf cut short is silent": {func(*http.Request) (*http.Response, error) {
			return memberstest.Respond(200, contentTypeProtobuf, []byte("k8s\x00\x0a\xff")), nil
		}, "silent=east:BadAnswer"},
		"no pods is an answer": {func(*http.Request) (*http.Response, error) {
			return memberstest.Respond(200, contentTypeJSON, []byte(`{"kind":"PodMetricsList","items":[]}`)), nil
		}, "answered=east"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				east.Handle = tc.handle
				f := startStore(t, east)
				synctest.Wait()
				for _, namespace := range []string{"shop", ""} {
					if got := f.Pods(t.Context(), inNamespace(namespace)).Coverage().Header(); got != tc.want {
						t.Errorf("coverage in namespace %q is %q, want %q", namespace, got, tc.want)
					}
				}
				pass(10 * resolution) // and it keeps asking, no more often than once per period
				most := int64(13)
				if strings.HasSuffix(tc.want, "ServerError") {
					most += 4 // soon after the first; see retry.go
				}
				if asked := east.asks(); asked < 8 || asked > most {
					t.Errorf("asked %d times in 10 periods", asked)
				}
			})
		})
	}
}

func TestAllNamespacesAreAskedOnceForAllAskers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", append(pods("shop", 1), pods("bank", 1)...)...)
		release := make(chan struct{})
		east.Handle = func(r *http.Request) (*http.Response, error) {
			<-release
			return east.list(r)
		}
		f := startStore(t, east)
		synctest.Wait()
		var askers sync.WaitGroup
		for range 50 {
			askers.Go(func() {
				want := []string{"east/bank/web-0", "east/shop/web-0"}
				fleettest.Same(t, "pods", want, names(f.Pods(t.Context(), inNamespace(""))))
			})
		}
		synctest.Wait()
		close(release)
		askers.Wait()
		if asked := east.asks(); asked != 1 {
			t.Errorf("50 askers caused %d questions, want 1", asked)
		}
		pass(10 * resolution)
		if asked := east.asks(); asked != 1 {
			t.Errorf("all namespaces are kept hot: asked %d times", asked)
		}
	})
}

func TestSelectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		labelled := newFakeMember("east",
			pod("shop", "db-0", map[string]string{"app": "db", "statefulset.kubernetes.io/pod-name": "db-0"}),
			pod("shop", "web-0", map[string]string{"app": "web"}))
		bare := newFakeMember("west", pod("shop", "web-7", nil))
		f := startStore(t, labelled, bare)
		synctest.Wait()
		tests := map[string][]string{
			"app=db": {"east/shop/db-0", "west/shop/web-7"}, // west selects by itself, and has but one pod here
			"statefulset.kubernetes.io/pod-name=db-0": {"east/shop/db-0", "west/shop/web-7"},
			"app in (web, db)":                        {"east/shop/db-0", "east/shop/web-0", "west/shop/web-7"},
			"!app":                                    {"west/shop/web-7"},
		}
		for text, want := range tests {
			selector, err := labels.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			q := Question{Namespace: "shop", Selector: selector, Clusters: everywhere}
			fleettest.Same(t, text, want, names(f.Pods(t.Context(), q)))
		}
		for _, query := range labelled.queries() {
			if strings.Contains(query, "labelSelector") {
				t.Errorf("east, whose pods bear labels, was asked %s", query)
			}
		}
		if len(bare.queries()) != 1+len(tests) {
			t.Errorf("west, whose pods bear no labels, was asked %v; want one question per selector", bare.queries())
		}
	})
}

func TestQuestionsForSomeClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startStore(t, newFakeMember("east", pods("shop", 1)...), newFakeMember("west", pods("shop", 1)...))
		synctest.Wait()
		q := inNamespace("shop")
		q.Clusters = func(name string) bool { return name == "west" }
		if got, want := f.Pods(t.Context(), q).Coverage().Header(), "answered=west"; got != want {
			t.Errorf("coverage %q, want %q", got, want)
		}
		if got, want := f.Pods(t.Context(), inNamespace("shop")).Coverage().Header(), "answered=east,west"; got != want {
			t.Errorf("coverage %q of the whole fleet afterwards, want %q", got, want)
		}
	})
}

func TestNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startStore(t, newFakeMember("east"), newFakeMember("west"))
		synctest.Wait()
		q := Question{Selector: labels.SelectorFromSet(labels.Set{"kubernetes.io/os": "linux"}), Clusters: everywhere}
		fleettest.Same(t, "nodes", []string{"east//node-1", "west//node-1"}, names(f.Nodes(t.Context(), q)))
	})
}

func TestHotNamespacesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", pods("shop", 1)...)
		f := startStore(t, east)
		synctest.Wait()
		for i := range 20 {
			f.Pods(t.Context(), inNamespace(fmt.Sprintf("ns-%d", i)))
			pass(time.Millisecond)
		}
		before := east.asks()
		pass(resolution + time.Second)
		if asked := east.asks() - before; asked > 2*8 {
			t.Errorf("asked %d questions in a period, want no more than for the 8 namespaces that may be hot", asked)
		}
		pass(6 * time.Minute)
		before = east.asks()
		pass(10 * resolution)
		if asked := east.asks() - before; asked != 0 {
			t.Errorf("asked %d questions though nobody has asked us for 6 minutes", asked)
		}
	})
}

func TestMembersJoinAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", pods("shop", 1)...), newFakeMember("west", pods("shop", 1)...)
		f := startStore(t, east)
		synctest.Wait()
		f.Pods(t.Context(), inNamespace("shop"))

		west.Handle = memberstest.Hang
		f.setMembers(east, west)
		synctest.Wait()
		start := time.Now()
		a := f.Pods(t.Context(), inNamespace("shop"))
		if got, want := a.Coverage().Header(), "answered=east;silent=west:NotYetAsked"; got != want || time.Since(start) != 0 {
			t.Errorf("coverage %q after %v while a joined member hangs, want %q at once", got, time.Since(start), want)
		}
		west.Set(func() { west.Handle = nil })
		pass(5*time.Second + 2*resolution)
		if got, want := f.Pods(t.Context(), inNamespace("shop")).Coverage().Header(), "answered=east,west"; got != want {
			t.Errorf("coverage %q, want %q", got, want)
		}

		other := newFakeMember("east", pods("shop", 3)...) // the name now means another cluster
		f.setMembers(other)
		synctest.Wait()
		if got := names(f.Pods(t.Context(), inNamespace("shop"))); len(got) != 3 {
			t.Errorf("pods %v, want the three of the new cluster and none of the former", got)
		}
		left := east.asks()
		pass(10 * resolution)
		if east.asks() != left {
			t.Error("a member that left is still asked")
		}
	})
}

func TestMembersAreAskedOncePerPeriodHoweverManyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east", append(pods("shop", 3), pods("bank", 5)...)...)
		f := startStore(t, east)
		synctest.Wait()
		const periods = 200
		for range periods {
			for range 10 {
				f.Pods(t.Context(), inNamespace("shop"))
				f.Pods(t.Context(), inNamespace("bank"))
			}
			pass(resolution)
		}
		asked := float64(east.asks()) / periods / 2
		if asked < 0.95 || asked > 1.05 {
			t.Errorf("asked %.3f times per namespace and period, want once", asked)
		}
		if len(f.scrapers) != 1 || !f.scrapers["east"].state(time.Now()).locked {
			t.Error("the member's beat was not found in 50 minutes")
		}
	})
}

func TestNoMembersNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startStore(t)
		synctest.Wait()
		fleettest.Same(t, "coverage", fleet.Coverage{}, f.Pods(t.Context(), inNamespace("shop")).Coverage())
	})
}
