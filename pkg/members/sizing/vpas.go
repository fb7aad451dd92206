// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// VPAs are the VerticalPodAutoscalers of one namespace of a cluster.
type VPAs struct {
	// Objects are in name order; of each only name, uid, targetRef and updateMode are kept. They are shared: do not write to
	// them. A cluster that does not serve the kind has none.
	Objects []*vpa.VerticalPodAutoscaler
	// Known is false where Objects say nothing, as they were never seen.
	Known bool
	// Silence is why they cannot be seen now, so that Objects are as they were last; nil if they can.
	Silence *fleet.Silence
}

func newVPAs(scope tenancy.Scope) *mirror.Mirror[*vpa.VerticalPodAutoscaler, vpaRecord] {
	return mirror.New(mirror.Options[*vpa.VerticalPodAutoscaler, vpaRecord]{
		Resource: vpa.SchemeGroupVersion.WithResource(vpa.Resource),
		Optional: true,
		Keep:     vpaRecordOf,
		Scope:    scope,
	})
}

// vpaRecord is what is kept of a VerticalPodAutoscaler.
type vpaRecord struct{ *vpa.VerticalPodAutoscaler }

var _ mirror.Object = vpaRecord{}

func (r vpaRecord) Key() mirror.Key { return mirror.Key{Namespace: r.Namespace, Name: r.Name} }

func (r vpaRecord) Bytes() int64 { return compact.Bytes(r.VerticalPodAutoscaler) }

func vpaRecordOf(v *vpa.VerticalPodAutoscaler) vpaRecord {
	return vpaRecord{&vpa.VerticalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: v.Name, UID: v.UID},
		Spec:       v.Spec,
	}}
}

// VPAs implements [Sizer]: from what is watched.
func (s sizer) VPAs(ctx context.Context, namespace string) VPAs {
	return vpasOf(s.all.vpas.Ask(ctx, s.Member, namespace))
}

func vpasOf(answer mirror.Answer[vpaRecord]) VPAs {
	seen := VPAs{Known: answer.Known, Silence: answer.Silence}
	for _, r := range answer.Objects {
		seen.Objects = append(seen.Objects, r.VerticalPodAutoscaler)
	}
	return seen
}
