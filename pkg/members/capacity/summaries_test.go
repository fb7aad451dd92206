// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
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
	const refused = "Forbidden: nodes cannot be read: not for you"
	tests := map[string]struct {
		cluster string
		want    string
	}{
		"a Ready cluster": {"metadata: {name: east}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary:\n    " + aSummary, "7"},
		"another cluster": {"metadata: {name: west}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary:\n    " + aSummary, refused},
		"not Ready": {"metadata: {name: east}\nstatus:\n  conditions: [{type: Ready, status: Unknown}]\n  resourceSummary:\n    " +
			aSummary, refused},
		"without a summary": {"metadata: {name: east}\nstatus:\n  conditions: " + isReady, refused},
		"that takes forever": {"metadata: {name: east}\nstatus:\n  conditions: " + isReady +
			"\n  resourceSummary: {allocatable: {cpu: \"1e-2147483648\"}}", refused},
		"with one unreadable": {"metadata: {name: east}\nstatus:\n  conditions: " + isReady + "\n  resourceSummary: {allocatable: 7}", refused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, e := newFakeMember(), estimatorOf(Options{Hub: hubWith(clusterOf(t, tc.cluster))})
				m.refused = "nodes"
				defer run(t, e)()
				expect(t, e, m, tc.want)
			})
		})
	}
}

// A hub that does not serve Clusters is not asked for them, which it would refuse.
func TestHubThatIsNotKarmadas(t *testing.T) {
	for name, serves := range map[string]bool{"without Clusters": false, "with Clusters": true} {
		t.Run(name, func(t *testing.T) {
			hub := hubWith(clusterOf(t, "metadata: {name: east}\nstatus:\n  conditions: "+isReady+"\n  resourceSummary:\n    "+aSummary))
			kinds := meta.NewDefaultRESTMapper(nil)
			if serves {
				kinds.Add(karmadaClusters.GroupVersion().WithKind(karmadaKind.Kind), meta.RESTScopeRoot)
			}
			got := tellOf(newSummaries(Options{Hub: hub, Kinds: kinds}).estimate(t.Context(), newFakeMember(), oneCPU()))
			if known, asked := got == "7", len(hub.Actions()) > 0; known != serves || asked != serves {
				t.Errorf("%s, and it was asked: %v", got, asked)
			}
		})
	}
}

func TestWhatTheMemberSaysComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := hubWith(clusterOf(t, "metadata: {name: east}\nstatus:\n  conditions: "+isReady+"\n  resourceSummary:\n    "+aSummary))
		m, e := newFakeMember(), estimatorOf(Options{Hub: hub})
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

// slowHub lists Clusters slowly.
type slowHub struct {
	dynamic.NamespaceableResourceInterface

	takes time.Duration
}

func (h slowHub) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return h
}

func (h slowHub) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	select {
	case <-time.After(h.takes):
		return h.NamespaceableResourceInterface.List(ctx, o)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestSummariesOfASlowHub(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		want  string
		waits time.Duration
	}{
		"who waits gets them although others do not": {3 * time.Second, "7", 3 * time.Second},
		"a hub that does not answer is given up":     {time.Hour, "Timeout: no answer within the deadline", 5 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := clusterOf(t, "metadata: {name: east}\nstatus:\n  conditions: "+isReady+"\n  resourceSummary:\n    "+aSummary)
				s := newSummaries(Options{Hub: slowHub{hubWith(cluster).Resource(karmadaClusters), tc.takes}})
				began := time.Now()
				var asking sync.WaitGroup
				asking.Go(func() { // who began it
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if got := tellOf(s.estimate(ctx, newFakeMember(), oneCPU())); got != "Timeout: the Karmada Clusters of the hub are being listed" {
						t.Errorf("got %q", got)
					}
					if waited := time.Since(began); waited != time.Second {
						t.Errorf("waited %v, want 1s", waited)
					}
				})
				synctest.Wait()
				if got := tellOf(s.estimate(t.Context(), newFakeMember(), oneCPU())); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if waited := time.Since(began); waited != tc.waits {
					t.Errorf("waited %v, want %v", waited, tc.waits)
				}
				asking.Wait()
			})
		})
	}
}
