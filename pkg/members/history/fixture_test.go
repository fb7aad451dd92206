// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const (
	mi = 1 << 20
	gi = 1 << 30
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func web() Owner { return Owner{"shop", "web", "u1", "Deployment/web"} }

// newHub is a hub that stores the objects.
func newHub(t testing.TB, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return hubtest.NewBuilder(scheme).WithObjects(objects...).Build()
}

func faulty(hub client.WithWatch, faults interceptor.Funcs) client.WithWatch {
	return interceptor.NewClient(hub, faults)
}

// started is a store that has loaded the history of web.
func started(t testing.TB, hub Hub, now time.Time) *Store {
	t.Helper()
	s := New(hub, 10*time.Minute)
	loaded, err := s.Load(t.Context(), web(), now)
	if err != nil || len(loaded.Faults) > 0 {
		t.Fatal(err, loaded.Faults)
	}
	return s
}

// pod is what is seen of one Pod with a container app.
type pod struct {
	name        string
	cpu, memory int64
	killed      time.Time // by its node's clock; zero: it was not
	unmeasured  bool
	unlisted    bool
}

func of(n int, cpu, memory int64) pod {
	return pod{name: fmt.Sprintf("web-%d", n), cpu: cpu, memory: memory}
}

// saw adds what a cluster says to a pass.
func (p Pass) saw(cluster string, all ...pod) Pass {
	u := hubmetrics.ClusterUses{Cluster: cluster, Outcome: hubmetrics.Answered}
	l := pods.SizedListing{Known: true, AsOf: p.At}
	for _, of := range all {
		if !of.unmeasured {
			u.Pods = append(u.Pods, hubmetrics.PodUses{
				Name: of.name, Measured: p.At.Add(-5 * time.Second),
				Containers: []hubmetrics.ContainerUse{{Name: "app", MilliCPU: of.cpu, Memory: of.memory}},
			})
		}
		if !of.unlisted {
			listed := pods.SizedPod{
				Pod:        replicas.Pod{Name: of.name},
				Containers: []pods.Container{{Name: "app", Requests: pods.Resources{MilliCPU: 100, Memory: gi}}},
			}
			if !of.killed.IsZero() {
				listed.OOMKills = []pods.OOMKill{{Container: "app", Restarts: 1, FinishedAt: of.killed}}
			}
			l.Pods = append(l.Pods, listed)
		}
	}
	return p.with(u, l)
}

func (p Pass) with(u hubmetrics.ClusterUses, l pods.SizedListing) Pass {
	p.Uses = append(p.Uses, u)
	if p.Pods == nil {
		p.Pods = map[string]pods.SizedListing{}
	}
	p.Pods[u.Cluster] = l
	return p
}

// silent adds a cluster that says nothing.
func (p Pass) silent(cluster string) Pass {
	silence := &fleet.Silence{Reason: fleet.ReasonTimeout}
	return p.with(hubmetrics.ClusterUses{Cluster: cluster, Outcome: hubmetrics.Silent, Silence: silence}, pods.SizedListing{Silent: silence})
}

func at(after time.Duration) Pass { return Pass{At: noon.Add(after)} }

func options() sizes.Options {
	return sizes.Options{Percentile: [2]int{90, 90}, Margin: 15, PodMinimum: sizes.Amounts{25, 250 * mi}, Containers: 1}
}

func feed(t testing.TB, s *Store, p Pass) []Fed {
	t.Helper()
	fed, err := s.Feed(web(), p)
	if err != nil {
		t.Fatal(err)
	}
	return fed
}

// advise is the advice for app.
func advise(t testing.TB, s *Store, last sizes.Advice) Advice {
	t.Helper()
	all, err := s.Advise(web(), []Wanted{{Container: "app", Options: options(), Last: last}})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}
