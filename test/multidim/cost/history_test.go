// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	podrecords "github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// remember has the hub hold eight days of history of each workload, of one sample an hour, as a controller-manager would have saved
// it: what is measured is an hour in which nothing happens, not the first one.
func (s *scene) remember(t *testing.T) {
	t.Helper()
	var list v1alpha1.MultidimPodAutoscalerList
	if err := s.hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	store, random, now := history.New(s.hub, time.Hour), rand.New(rand.NewPCG(1, 0)), time.Now()
	for i := range list.Items {
		m := &list.Items[i]
		owner := history.Owner{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Workload: "Deployment/" + m.Name}
		if _, err := store.Load(t.Context(), owner, now.Add(-8*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for hour := 8*24 - 1; hour > 0; hour-- {
			if _, err := store.Feed(owner, s.past(now.Add(-time.Duration(hour)*time.Hour), random)); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		ended, end := context.WithCancel(ctx)
		end()
		if err := store.Run(ended); err != nil { // it saves all as it ends, as far as there is time
			return err
		}
		var saved v1alpha1.MultidimPodAutoscalerHistoryList
		err := s.hub.List(ctx, &saved)
		if err == nil && len(saved.Items) != objects {
			err = fmt.Errorf("%d histories are saved", len(saved.Items))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// past is what Pods used at a time: what they will use, give or take a tenth.
func (s *scene) past(at time.Time, random *rand.Rand) history.Pass {
	pass := history.Pass{At: at, Pods: map[string]podrecords.SizedListing{}}
	about := func(amount int64) int64 { return amount*9/10 + random.Int64N(amount/5) }
	for n, m := range s.members.Members() {
		uses := hubmetrics.ClusterUses{Cluster: m.Name(), Outcome: hubmetrics.Answered}
		listed := podrecords.SizedListing{Known: true, AsOf: at}
		for k := range pods {
			pod := podrecords.SizedPod{UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", pods*n+k)),
				Containers: []podrecords.Container{{Name: "app"}}}
			pod.Name = fmt.Sprint("pod-", k)
			listed.Pods = append(listed.Pods, pod)
			uses.Pods = append(uses.Pods, hubmetrics.PodUses{Name: pod.Name, Measured: at, Window: 15 * time.Second,
				Containers: []hubmetrics.ContainerUse{{Name: "app", MilliCPU: about(usage.CPU.MilliValue()), Memory: about(usage.Memory.Value())}}})
		}
		pass.Uses, pass.Pods[m.Name()] = append(pass.Uses, uses), listed
	}
	return pass
}
