// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const gi = 1 << 30

// used is of a container that used so much for a day.
func used(milli, bytes int64) sizes.Told {
	var u sizes.Use
	var i sizes.Instance
	for n := range 24 * 60 {
		at := time.Date(2026, 11, 22, 12, n, 0, 0, time.UTC)
		i.Add(&u, sizes.Sample{Amounts: sizes.Amounts{milli, bytes}, At: at})
	}
	return u.Tell()
}

// question is of one container, app, in the clusters east, which uses a tenth of a core, and west, which uses one.
func question(change ...func(*v1alpha1.MultidimPodAutoscalerSpec)) *Question {
	m := &v1alpha1.MultidimPodAutoscaler{}
	for _, c := range change {
		c(&m.Spec)
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	q := &Question{
		Spec: &m.Spec, PodMinimum: sizes.Amounts{25, 1 << 20},
		Template: Template{Overhead: NoAmounts(), Containers: []Container{{Name: "app",
			Resources: sizes.Resources{Requests: sizes.Amounts{1000, 2 * gi}, Limits: NoAmounts()}}}},
		Known: []Known{{Container: "app", Fleet: KnownUse{Told: used(1000, gi)},
			In: []KnownUse{{Told: used(100, gi)}, {Told: used(1000, gi)}}}},
	}
	for _, name := range []string{"east", "west"} {
		q.Clusters = append(q.Clusters, Cluster{Name: name, Defaults: NoDefaults(), Rooms: []sizes.Room{sizes.Unlimited()}})
	}
	return q
}

func perCluster(s *v1alpha1.MultidimPodAutoscalerSpec) { s.Scope = v1alpha1.ScopePerCluster }

// One size is for all clusters, or each has its own, of what is used there.
func TestScopes(t *testing.T) {
	for name, tc := range map[string]struct {
		spec     []func(*v1alpha1.MultidimPodAutoscalerSpec)
		own, all int64
	}{
		"of the fleet":    {nil, 1168, 1168},
		"of each cluster": {[]func(*v1alpha1.MultidimPodAutoscalerSpec){perCluster}, 126, 1168},
	} {
		d, err := Decide(question(tc.spec...))
		if err != nil {
			t.Fatal(err)
		}
		got := []int64{d.Clusters[0].Sizes[0].Target[sizes.CPU], d.Clusters[1].Sizes[0].Target[sizes.CPU], d.Fleet[0].Target[sizes.CPU]}
		fleettest.Same(t, name, []int64{tc.own, tc.all, 1168}, got)
	}
}

// While a cluster is silent nothing becomes less than it was; where it is not, what was before makes no difference.
func TestHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		silent bool
		want   int64
	}{"silent": {true, 4000}, "not": {false, 1168}} {
		q := question()
		q.Known[0].Fleet.Silent = tc.silent
		q.Known[0].Fleet.Last = sizes.Advice{Target: sizes.Amounts{4000, 1}, Lower: NoAmounts(), Upper: NoAmounts()}
		d, err := Decide(q)
		if err != nil || d.Fleet[0].Target[sizes.CPU] != tc.want {
			t.Errorf("%s: %d, want %d; %v", name, d.Fleet[0].Target[sizes.CPU], tc.want, err)
		}
	}
}

// Of what is not known nothing is said.
func TestWhatIsNotKnown(t *testing.T) {
	of := func(cpu int32) func(*v1alpha1.MultidimPodAutoscalerSpec) {
		return func(s *v1alpha1.MultidimPodAutoscalerSpec) {
			s.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "*", TargetPercentile: v1alpha1.TargetPercentile{CPU: &cpu}}}
		}
	}
	for want, q := range map[string]*Question{
		"container app was not sized: what it used is not known": func() *Question { q := question(); q.Known = nil; return q }(),
		"container app: the 49th percentile is not known":        question(of(49)),
		"container app: the 100th percentile is not known":       question(of(100)),
		"what container app used in each cluster is not known": func() *Question {
			q := question(perCluster)
			q.Known[0].In = nil
			return q
		}(),
	} {
		if _, err := Decide(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
