// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// learned counts how often a member was asked which versions of a group it serves.
func learned(asked []string, group string) int {
	n := 0
	for _, uri := range asked {
		if uri == "/apis/"+group {
			n++
		}
	}
	return n
}

// manyQuestions puts n different ones at once and waits for the answers.
func manyQuestions(t *testing.T, f *fleetOf, n int, want string) {
	t.Helper()
	var askers sync.WaitGroup
	for i := range n {
		askers.Go(func() {
			q := podsRPS
			q.Subject.namespace = fmt.Sprintf("shop-%d", i)
			wantCoverage(t, f.Custom(t.Context(), q), want)
		})
	}
	askers.Wait()
}

func TestVersionIsLearntOnceForAllQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		release := make(chan struct{})
		east.Handle = func(r *http.Request) (*http.Response, error) {
			<-release
			return east.answer(r), nil
		}
		f := startFleet(t, east)
		go func() {
			synctest.Wait()
			close(release)
		}()
		manyQuestions(t, f, 50, "answered=east")
		time.Sleep(10 * time.Second)
		manyQuestions(t, f, 50, "answered=east")
		fleettest.Same(t, "times the version was asked for", 1, learned(east.take(), customGroup))
	})
}

func TestVersionIsLearntOnceForQuestionsAndDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.Silent = away
		east.Handle = lateBy(time.Second, east)
		f := newFleetWith(func(o *Options) { o.External = false }, east).start(t)
		east.Set(func() { east.Silent = nil })
		go f.Custom(t.Context(), podsRPS) // before anybody has heard that the member is ready
		synctest.Wait()
		f.MembersChanged()
		time.Sleep(5 * time.Second)
		if asked := east.take(); learned(asked, customGroup) != 1 || len(asked) != 3 {
			t.Errorf("asked %v, want the versions, the values and the metrics, each once", asked)
		}
	})
}

func TestDiscoveryLearnsTheVersionAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.versions[customGroup] = []string{"v1beta1"}
		f := startFleet(t, east)
		f.Custom(t.Context(), podsRPS)
		east.Set(func() { east.versions[customGroup] = []string{"v1beta1", "v1beta2"} })
		time.Sleep(period + period/10)
		east.take()
		f.Custom(t.Context(), podsRPS)
		fleettest.Same(t, "asked", []string{"/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/rps"}, east.take())
	})
}

func TestVersionIsLearntAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		time.Sleep(10 * time.Second)
		east.take()
		east.Set(func() { east.values = saying(503, "away") })
		manyQuestions(t, f, 1, "silent=east:ServerError")
		fleettest.Same(t, "times the version was asked for before anything failed", 0, learned(east.take(), customGroup))
		time.Sleep(keepFor)
		manyQuestions(t, f, 20, "silent=east:ServerError")
		fleettest.Same(t, "times the version was asked for after a failure", 1, learned(east.take(), customGroup))
		east.Set(func() { east.values = nil })
		time.Sleep(keepFor)
		manyQuestions(t, f, 20, "answered=east")
		time.Sleep(keepFor)
		manyQuestions(t, f, 20, "answered=east")
		fleettest.Same(t, "times the version was asked for after the last failures", 1, learned(east.take(), customGroup))
	})
}

func TestVersionIsNotDoubtedWhereAMetricIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east)
		time.Sleep(keepFor)
		unknown := podsRPS
		unknown.Metric = "nonsense"
		for range 3 {
			wantCoverage(t, f.Custom(t.Context(), unknown), "answered=east;absent=east")
			time.Sleep(keepFor)
		}
		fleettest.Same(t, "times the version was asked for", 1, learned(east.take(), customGroup))
	})
}

// TestVersionThatIsNoLongerServed must not look like a member that has no values.
func TestVersionThatIsNoLongerServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		f := startFleet(t, east) // learns v1beta2 this very moment
		east.Set(func() { east.versions[customGroup] = []string{"v1beta1"} })
		east.take()
		r := f.Custom(t.Context(), podsRPS)
		wantCoverage(t, r, "answered=east")
		fleettest.Same(t, "objects", []string{"east/web-0=5"}, objectsIn(r))
		want := []string{
			"/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/rps",
			"/apis/custom.metrics.k8s.io",
			"/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/%2A/rps",
		}
		fleettest.Same(t, "asked", want, east.take())

		east.Set(func() {
			east.Handle = func(r *http.Request) (*http.Response, error) {
				if strings.Count(r.URL.Path, "/") > 2 {
					return pageNotFound(), nil
				}
				return memberstest.Respond(503, runtime.ContentTypeJSON, nil), nil
			}
		})
		time.Sleep(keepFor)
		wantCoverage(t, f.Custom(t.Context(), podsRPS), "silent=east:ServerError")
	})
}

// TestPathThatNobodyServes: adapters made by hand say so of a metric that they do not know.
func TestPathThatNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.values = func(*http.Request) (*http.Response, error) { return pageNotFound(), nil }
		f := startFleet(t, east)
		east.take()
		wantCoverage(t, f.External(t.Context(), queue), "answered=east;absent=east")
		want := []string{"/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue", "/apis/external.metrics.k8s.io"}
		fleettest.Same(t, "asked", want, east.take())
	})
}

func TestMissingAPIIsRememberedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.versions = nil
		f := startFleet(t, east)
		manyQuestions(t, f, 50, "answered=east;absent=east")
		if asked := east.take(); learned(asked, customGroup) != 1 || len(asked) != 2 {
			t.Errorf("asked %v, want each group once", asked)
		}
		east.Set(func() { east.versions = newFakeMember("").versions })
		time.Sleep(keepFor)
		manyQuestions(t, f, 50, "answered=east")
		fleettest.Same(t, "times the version was asked for", 1, learned(east.take(), customGroup))
	})
}

func TestFailureToLearnIsRememberedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		east.Handle = saying(500, "broken")
		f := startFleet(t, east)
		manyQuestions(t, f, 50, "silent=east:ServerError")
		if asked := east.take(); learned(asked, customGroup) != 1 || len(asked) != 2 {
			t.Errorf("asked %v, want each group once", asked)
		}
		east.Set(func() { east.Handle = nil })
		time.Sleep(keepFor)
		manyQuestions(t, f, 50, "answered=east")
	})
}
