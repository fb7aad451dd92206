// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
)

func TestChoose(t *testing.T) {
	group := func(preferred string, versions ...string) *metav1.APIGroup {
		g := &metav1.APIGroup{PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: preferred}}
		for _, version := range versions {
			g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: version})
		}
		return g
	}
	const v1beta1, v1beta2, v3 = "custom.metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1beta2", "custom.metrics.k8s.io/v3"
	tests := map[string]struct {
		group   *metav1.APIGroup
		want    schema.GroupVersion
		wantErr string
	}{
		"the hub's preference":                           {group(v1beta1, v1beta2, v1beta1), customv1beta1.SchemeGroupVersion, ""},
		"the first that is known if the preferred isn't": {group(v3, v3, v1beta1, v1beta2), customv1beta1.SchemeGroupVersion, ""},
		"the first that is known if none is preferred":   {group("", v1beta2, v1beta1), customv1beta2.SchemeGroupVersion, ""},
		"none":       {group(v3, v3), schema.GroupVersion{}, "no known available metric versions found"},
		"none there": {group(""), schema.GroupVersion{}, "no known available metric versions found"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.group)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && err.Error() != tc.wantErr {
				t.Errorf("got %v, %v; want %v, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

// TestVersionOverTime tells a story: at each time somebody asks, and the hub says what it says then.
func TestVersionOverTime(t *testing.T) {
	first, second := customv1beta1.SchemeGroupVersion, customv1beta2.SchemeGroupVersion
	noAPI, broken := none{errors.New("no API")}, errors.New("connection refused")
	type step struct {
		after time.Duration
		doubt bool // somebody found that nobody serves it
		says  schema.GroupVersion
		fails error

		want        schema.GroupVersion
		wantErr     error
		discoveries int // so far
	}
	tests := map[string][]step{
		"what was found holds for a minute": {
			{says: first, want: first, discoveries: 1},
			{after: time.Minute - 1, says: second, want: first, discoveries: 1},
			{after: 1, says: second, want: second, discoveries: 2},
		},
		"while the hub does not say, what it said holds": {
			{says: first, want: first, discoveries: 1},
			{after: time.Minute, fails: broken, want: first, discoveries: 2},
			{after: 5*time.Second - 1, says: second, want: first, discoveries: 2},
			{after: 1, says: second, want: second, discoveries: 3},
		},
		"that there is none is believed at once, and not for long": {
			{says: first, want: first, discoveries: 1},
			{after: time.Minute, fails: noAPI, wantErr: noAPI, discoveries: 2},
			{after: 5*time.Second - 1, says: second, wantErr: noAPI, discoveries: 2},
			{after: 1, says: second, want: second, discoveries: 3},
		},
		"a failure is not repeated at once": {
			{fails: broken, wantErr: broken, discoveries: 1},
			{says: first, wantErr: broken, discoveries: 1},
			{after: 5 * time.Second, says: first, want: first, discoveries: 2},
		},
		"what is doubted is discovered again, but not each time": {
			{says: first, want: first, discoveries: 1},
			{after: 4 * time.Second, doubt: true, says: second, want: first, discoveries: 1},
			{after: time.Second, says: first, want: first, discoveries: 2},
			{after: time.Second, doubt: true, says: second, want: first, discoveries: 2},
			{after: 4 * time.Second, says: second, want: second, discoveries: 3},
			{after: 50 * time.Second, says: first, want: second, discoveries: 3},
		},
	}
	unrouted := unroutedError(t)
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				discoveries, now := 0, step{}
				v := newVersion(func(context.Context) (schema.GroupVersion, error) {
					discoveries++
					return now.says, now.fails
				})
				for i, s := range steps {
					time.Sleep(s.after)
					if now = s; s.doubt {
						v.doubt(unrouted)
					}
					got, err := v.preferred(t.Context())
					if got != s.want || !errors.Is(err, s.wantErr) || discoveries != s.discoveries {
						t.Fatalf("step %d: got %v, %v after %d discoveries; want %v, %v after %d", i, got, err, discoveries, s.want, s.wantErr, s.discoveries)
					}
				}
			})
		})
	}
}

// unroutedError returns what a client makes of a path that nobody serves.
func unroutedError(t *testing.T) error {
	t.Helper()
	err := newHub(nil).client(t).custom[customv1beta2.SchemeGroupVersion].Get().AbsPath("/apis/nowhere").Do(t.Context()).Error()
	if err == nil {
		t.Fatal("a path that nobody serves was answered")
	}
	return err
}

func TestOnlyAPathThatNobodyServesCastsDoubtOnAVersion(t *testing.T) {
	tests := map[string]struct {
		said said
		want string
	}{
		"the API does not know the metric": {asStatus(http.StatusNotFound, metav1.StatusReasonNotFound, "not known"), "not known"},
		"the API is down": {said{code: http.StatusServiceUnavailable, kind: "text/plain", body: []byte("service unavailable")},
			"unable to handle the request"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := newHub(map[string]said{groupPath: ofGroup("v1beta2"), rpsOfPodsPath: tc.said})
				client := hub.client(t)
				for range 3 {
					wantError(t, client.Ask(t.Context(), question(rps(nil), "east")), tc.want)
					time.Sleep(10 * time.Second)
				}
				if asked := hub.questions(); len(asked) != 4 || asked[0] != groupPath {
					t.Errorf("asked %v", asked)
				}
			})
		})
	}
}

func TestAVersionThatIsServedNoLongerIsLookedForSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newHub(map[string]said{groupPath: ofGroup("v1beta1"), rpsOfPodsPath: asJSON(rates)})
		client := hub.client(t)
		wantError(t, client.Ask(t.Context(), question(rps(nil), "east")), "the server could not find the requested resource")
		hub.says(groupPath, ofGroup("v1beta2"))
		time.Sleep(5 * time.Second)
		if got := client.Ask(t.Context(), question(rps(nil), "east")); got.Err != nil {
			t.Error(got.Err)
		}
	})
}

func TestWhoeverKnowsAVersionDoesNotWaitForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		v := newVersion(func(ctx context.Context) (schema.GroupVersion, error) {
			if hangs.Load() {
				<-ctx.Done()
				return schema.GroupVersion{}, ctx.Err()
			}
			return customv1beta1.SchemeGroupVersion, nil
		})
		if _, err := v.preferred(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		hangs.Store(true)
		began := time.Now()
		var longest time.Duration
		var mu sync.Mutex
		var askers sync.WaitGroup
		waited := 0
		for range 10 {
			askers.Go(func() {
				got, err := v.preferred(t.Context())
				if err != nil || got != customv1beta1.SchemeGroupVersion {
					t.Errorf("got %v, %v", got, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if took := time.Since(began); took > 0 {
					longest, waited = took, waited+1
				}
			})
		}
		askers.Wait()
		if waited != 1 || longest != patience {
			t.Errorf("%d waited, the longest for %v; want one, for %v", waited, longest, patience)
		}
	})
}

func TestWhoeverKnowsNoVersionWaitsForTheOneWhoLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var discoveries atomic.Int32
		v := newVersion(func(context.Context) (schema.GroupVersion, error) {
			discoveries.Add(1)
			time.Sleep(time.Second)
			return customv1beta1.SchemeGroupVersion, nil
		})
		var askers sync.WaitGroup
		for range 10 {
			askers.Go(func() {
				if got, err := v.preferred(t.Context()); err != nil || got != customv1beta1.SchemeGroupVersion {
					t.Errorf("got %v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.preferred(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("one who does not want to wait: got error %v", err)
		}
		askers.Wait()
		if discoveries.Load() != 1 {
			t.Errorf("discovered %d times", discoveries.Load())
		}
	})
}

// TestAnAskerWhoLeavesLeavesNoError: that one question had no time left says nothing of the hub.
func TestAnAskerWhoLeavesLeavesNoError(t *testing.T) {
	v := newVersion(func(ctx context.Context) (schema.GroupVersion, error) {
		return customv1beta1.SchemeGroupVersion, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.preferred(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if got, err := v.preferred(t.Context()); err != nil || got != customv1beta1.SchemeGroupVersion {
		t.Errorf("got %v, %v", got, err)
	}
}
