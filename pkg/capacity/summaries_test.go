// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

func clusterOf(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetAPIVersion("cluster.karmada.io/v1alpha1")
	u.SetKind("Cluster")
	return u
}

const (
	aSummary = `allocatable: {cpu: 9500m, pods: "110"}
    allocated: {cpu: "2", pods: "5"}
    allocating: {cpu: 500m, pods: "1"}
`
	isReady = `[{type: Ready, status: "True", reason: ClusterReady, message: cluster is healthy, lastTransitionTime: "2026-01-01T00:00:00Z"}]`
)

func TestSummaryOfTheHubStandsIn(t *testing.T) {
	const refused = "Forbidden: nodes can not be read: not for you"
	tests := map[string]struct {
		cluster string
		want    string
	}{
		"a Ready cluster":     {"metadata: {name: east}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary:\n    " + aSummary, "7"},
		"another cluster":     {"metadata: {name: west}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary:\n    " + aSummary, refused},
		"not Ready":           {"metadata: {name: east}\nstatus:\n  conditions: [{type: Ready, status: Unknown}]\n  resourceSummary:\n    " + aSummary, refused},
		"without a summary":   {"metadata: {name: east}\nstatus:\n  conditions: " + isReady, refused},
		"with one unreadable": {"metadata: {name: east}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary: {allocatable: 7}", refused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), New(Options{Hub: hubWith(clusterOf(t, tc.cluster))})
				m.refused = "nodes"
				defer run(t, e)()
				expect(t, e, m, tc.want)
			})
		})
	}
}

func TestWhatTheMemberSaysComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubWith(clusterOf(t, "metadata: {name: east}\nstatus:\n  conditions: "+isReady+"\n  resourceSummary:\n    "+aSummary))
		m, e := newFakeMember(), New(Options{Hub: hub})
		defer run(t, e)()
		expect(t, e, m, "3")
		if asked := hub.Actions(); len(asked) > 0 {
			t.Errorf("the hub was asked: %v", asked)
		}
	})
}

func TestSummariesAreListedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubWith(clusterOf(t, "metadata: {name: east}\nstatus:\n  conditions: "+isReady+"\n  resourceSummary:\n    "+aSummary))
		hub.PrependReactor("list", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(time.Second)
			return false, nil, nil
		})
		s := newSummaries(Options{Hub: hub})
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				if got := tellOf(s.estimate(t.Context(), newFakeMember(), oneCPU())); got != "7" {
					t.Errorf("got %q, want 7", got)
				}
			})
		}
		asking.Wait()
		time.Sleep(summariesFor - 2*time.Second)
		s.estimate(t.Context(), newFakeMember(), oneCPU())
		if n := len(hub.Actions()); n != 1 {
			t.Errorf("listed %d times, want once", n)
		}
		time.Sleep(2 * time.Second)
		s.estimate(t.Context(), newFakeMember(), oneCPU())
		if n := len(hub.Actions()); n != 2 {
			t.Errorf("listed %d times, want a second time", n)
		}
	})
}

func TestSummariesOfAHubThatFails(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"without Karmada": {
			apierrors.NewNotFound(karmadaClusters.GroupResource(), ""),
			"NoSummary: the hub has no Karmada Cluster of that name that is Ready and summed up",
		},
		"without the right": {
			apierrors.NewForbidden(karmadaClusters.GroupResource(), "", errors.New("no")),
			"Forbidden: listing Karmada Clusters: clusters.cluster.karmada.io is forbidden: no",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub := hubWith()
			hub.PrependReactor("list", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			if got := tellOf(newSummaries(Options{Hub: hub}).estimate(t.Context(), newFakeMember(), oneCPU())); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSummariesWaitNoLongerThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubWith()
		hub.PrependReactor("list", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(time.Minute)
			return false, nil, nil
		})
		m, e := newFakeMember(), New(Options{Hub: hub})
		m.hang = true
		stop := run(t, e)
		began := time.Now()
		expect(t, e, m, "NotListed: nodes can not be read: being listed for the first time")
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("waited %v, want 5s", waited)
		}
		stop()
		time.Sleep(time.Minute) // the fake heeds no deadline
	})
}
