// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

func expect(t *testing.T, e *Estimator, m *fakeMember, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if got := tellOf(e.Estimate(ctx, m, oneCPU())); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEstimateFollowsTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		stop := run(t, e)
		if asked := m.asked(); asked != nil {
			t.Errorf("asked before there was a question: %v", asked)
		}
		expect(t, e, m, "3")
		synctest.Wait()
		asked := m.asked()
		slices.Sort(asked)
		fleettest.Same(t, "asked", []string{
			quotasPath + " watch=false", quotasPath + " watch=true",
			nodesPath + " watch=false", nodesPath + " watch=true",
			podsPath + " watch=false", podsPath + " watch=true",
		}, asked)
		m.tell(t, watch.Added, pod("second"))
		synctest.Wait()
		expect(t, e, m, "2")
		ended := pod("first")
		ended.Status.Phase = corev1.PodSucceeded
		m.tell(t, watch.Modified, ended)
		m.tell(t, watch.Deleted, pod("second"))
		synctest.Wait()
		expect(t, e, m, "4")
		if asked := m.asked(); asked != nil {
			t.Errorf("asked although all is in memory: %v", asked)
		}
		stop()
	})
}

func TestEstimateHeedsQuotas(t *testing.T) {
	tests := map[string]struct {
		scopes []corev1.ResourceQuotaScope
		want   string
	}{
		"for all Pods":              {nil, "1"},
		"for others than the shops": {[]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}, "3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{})
				m.lists[quotasPath] = &corev1.ResourceQuotaList{Items: []corev1.ResourceQuota{{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "few"},
					Spec:       corev1.ResourceQuotaSpec{Scopes: tc.scopes},
					Status: corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{"pods": resource.MustParse("2")},
						Used: corev1.ResourceList{"pods": resource.MustParse("1")}},
				}}}
				defer run(t, e)()
				expect(t, e, m, tc.want)
			})
		})
	}
}

func TestEstimateOfWhatCanNotBeReadIsUnknown(t *testing.T) {
	for resource, want := range map[string]string{
		"nodes":          "Forbidden: nodes cannot be read: not for you",
		"pods":           "Forbidden: pods cannot be read: not for you",
		"resourcequotas": "Forbidden: resourcequotas cannot be read: not for you",
	} {
		t.Run(resource, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{})
				m.refused = resource
				defer run(t, e)()
				began := time.Now()
				expect(t, e, m, want)
				if waited := time.Since(began); waited > 0 {
					t.Errorf("waited %v for what is refused", waited)
				}
				time.Sleep(10 * time.Minute) // it is asked for again, ever more rarely, and then no more
				if asked := m.asked(); len(asked) > 40 {
					t.Errorf("%d requests in ten minutes", len(asked))
				}
				m.Set(func() { m.refused = "" })
				expect(t, e, m, "3")
			})
		})
	}
}

// Where not all namespaces are in scope, the nodes are not asked for, and that is the reason. What is of a namespace is known.
func TestEstimateInSomeNamespaces(t *testing.T) {
	scope, err := tenancy.NewScope([]string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{Scope: scope})
		m.lists["/api/v1/namespaces/shop/limitranges"] = &corev1.LimitRangeList{}
		defer run(t, e)()
		const why = "OutOfScope: nodes cannot be read: they are not of single namespaces, and --namespaces restricts fleetscale to namespace shop"
		expect(t, e, m, why)
		if l := e.LargestNodes(t.Context(), m, &corev1.PodTemplateSpec{}); l.Known || l.Unknown.Error() != why {
			t.Errorf("the largest nodes: %+v, want %s", l, why)
		}
		time.Sleep(10 * time.Minute)
		if asked := m.asked(); len(asked) > 0 {
			t.Errorf("the member was asked %q", asked)
		}
		if l := e.LimitRanges(t.Context(), m, "shop"); !l.Known {
			t.Errorf("LimitRanges of shop: %v", l.Unknown)
		}
		if l := e.LimitRanges(t.Context(), m, "other"); l.Known || l.Unknown.Reason != mirror.ReasonOutOfScope {
			t.Errorf("LimitRanges of a namespace that is not in scope: %+v", l)
		}
	})
}

func TestEstimateOfASilentMemberExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		defer run(t, e)()
		expect(t, e, m, "3")
		synctest.Wait()
		m.Set(func() {
			m.Silent, m.success = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}, time.Now()
		})
		time.Sleep(2*time.Minute + 59*time.Second)
		expect(t, e, m, "3")
		time.Sleep(2 * time.Second)
		expect(t, e, m, "Timeout: nodes cannot be read: no answer")
		m.Set(func() { m.Silent = nil })
		time.Sleep(time.Minute)
		expect(t, e, m, "3")
	})
}

func TestEstimateSaysWhenItWasSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		defer run(t, e)()
		expect(t, e, m, "3")
		synctest.Wait()
		lost := time.Now()
		m.Set(func() { m.Silent, m.success = &fleet.Silence{Reason: fleet.ReasonTimeout}, lost })
		time.Sleep(time.Minute)
		if got := e.Estimate(t.Context(), m, oneCPU()); !got.AsOf.Equal(lost) {
			t.Errorf("as of %v, want %v", got.AsOf, lost)
		}
	})
}

// What was seen last of one kind of object decides, even if the others are seen.
func TestEstimateIsAsOldAsItsOldestPart(t *testing.T) {
	for name, path := range map[string]string{"nodes": nodesPath, "pods": podsPath, "resourcequotas": quotasPath} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{})
				defer run(t, e)()
				expect(t, e, m, "3")
				time.Sleep(time.Second)
				lost := time.Now()
				m.Set(func() {
					m.refused = name
					m.watches[path].Close()
				})
				time.Sleep(time.Minute)
				if got := e.Estimate(t.Context(), m, oneCPU()); !got.Known || !got.AsOf.Equal(lost) {
					t.Errorf("got %+v, want what was known at %v", got, lost)
				}
			})
		})
	}
}

// Decisions on replicas may rest on Pods that were seen long ago, estimates may not.
func TestPodsThatWereSeenLongAgoAreUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		defer run(t, e)()
		expect(t, e, m, "3")
		synctest.Wait()
		m.Set(func() {
			m.refused = "pods"
			m.watches[podsPath].Close()
		})
		time.Sleep(2*time.Minute + 59*time.Second)
		expect(t, e, m, "3")
		time.Sleep(2 * time.Second)
		expect(t, e, m, "Forbidden: pods cannot be read: not for you")
	})
}

func TestEstimateWaitsNoLongerThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		m.Handle = memberstest.Hang
		stop := run(t, e)
		began := time.Now()
		expect(t, e, m, "NotListed: nodes cannot be read: being listed for the first time")
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("waited %v, want 5s", waited)
		}
		stop()
	})
}

func TestMemberIsReadOnlyWhileAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{KeepFor: time.Minute})
		defer run(t, e)()
		expect(t, e, m, "3")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if _, err := m.watches[podsPath].Write([]byte("\n")); err == nil {
			t.Error("Pods are still watched")
		}
		m.asked()
		expect(t, e, m, "3")
		if asked := m.asked(); len(asked) < 3 {
			t.Errorf("asked only %v", asked)
		}
	})
}

// Pods of one namespace and of all are watched once, whoever asks; and what was last seen of all counts for as long.
func TestPodsAreWatchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, e := newFakeMember(), estimatorOf(Options{})
		const ofShop = "/api/v1/namespaces/shop/pods"
		m.lists[ofShop] = &corev1.PodList{}
		store := e.members.pods
		defer run(t, e)()
		decides := func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if l := store.Ask(ctx, m, "shop", labels.Everything()); !l.Known || l.Silent != nil || len(l.Pods) != 0 {
				t.Errorf("the Pods of a namespace are %+v", l)
			}
			if l := store.Ask(ctx, m, "other", labels.Everything()); !l.Known || len(l.Pods) != 1 {
				t.Errorf("the Pods of a namespace are %+v", l)
			}
		}
		m.lists["/api/v1/namespaces/other/pods"] = m.lists[podsPath]
		decides()
		expect(t, e, m, "3")
		for range 20 {
			time.Sleep(15 * time.Second)
			decides()
			expect(t, e, m, "3")
		}
		if _, err := m.watches[ofShop].Write([]byte("\n")); err == nil {
			t.Error("the Pods of a namespace are watched beside all")
		}
		m.asked()
		for range 24 { // nobody asks for room
			time.Sleep(15 * time.Second)
			decides()
		}
		if _, err := m.watches[podsPath].Write([]byte("\n")); err == nil {
			t.Error("all Pods are watched though nobody asks for room")
		}
		if asked := m.asked(); slices.Contains(asked, podsPath+" watch=false") || !slices.Contains(asked, ofShop+" watch=true") {
			t.Errorf("asked %q", asked)
		}
	})
}
