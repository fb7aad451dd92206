// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// No call waits for a cluster that is known to be silent, nor asks it.
func TestSilentClusters(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	joined := s.join(t)
	s.Set(func() { s.Refuses, s.Hangs = true, make(chan struct{}) })
	memberstest.Until(t, "a silent cluster", func() bool { return joined.Silence() != nil })
	why, _ := fleet.Classify(joined.Silence())
	for name, c := range map[string]Sizer{"registered": joined, "not registered": Silent(why)} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			_, checkpointErr := c.VPACheckpoints(ctx, "shop")
			for call, err := range map[string]error{
				"VPACheckpoints": checkpointErr, "SetPodSizes": c.SetPodSizes(ctx, "shop", "m", entry("web")),
				"RemovePodSizes": c.RemovePodSizes(ctx, "shop", "m", "web"),
				"Resize":         c.Resize(ctx, "shop", pod, smaller()), "Evict": c.Evict(ctx, "shop", pod),
			} {
				fleettest.Same(t, "error of "+call, "silence: "+string(why.Reason), memberstest.Told(err))
			}
			for what, silence := range map[string]*fleet.Silence{
				"VPAs": c.VPAs(ctx, "shop").Silence, "PodSizes": c.PodSizes(ctx, "shop").Silence, "Support": c.Support(ctx).Silence,
				"Pods": c.SizedPods(ctx, "shop", labels.Everything()).Silent,
			} {
				fleettest.Same(t, "reason of "+what, why.Reason, silence.Reason)
			}
			fleettest.Same(t, "prices", registration.Prices{}, c.Prices())
			vpas, born, support := c.VPAs(ctx, "shop"), c.PodSizes(ctx, "shop"), c.Support(ctx)
			vpas.Silence, born.Silence, support.Silence = nil, nil, nil
			fleettest.Same(t, "what is known", []any{VPAs{}, PodSizes{}, Support{}}, []any{vpas, born, support})
		})
	}
	fleettest.Same(t, "requests", []string(nil), s.Heard())
	c := Silent(why)
	fleettest.Same(t, "Pods", pods.SizedListing{Silent: why}, c.SizedPods(t.Context(), "shop", labels.Everything()))
	fleettest.Same(t, "LimitRanges", capacity.LimitRanges{Unknown: why}, c.LimitRanges(t.Context(), "shop"))
	fleettest.Same(t, "largest nodes", capacity.LargestNodes{Unknown: why}, c.LargestNodes(t.Context(), nil))
	fleettest.Same(t, "quotas", capacity.QuotaLeft{Unknown: why}, c.QuotaLeft(t.Context(), "shop", nil, nil))
}
