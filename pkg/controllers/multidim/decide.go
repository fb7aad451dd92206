// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// plan is what is to be done in a situation, and said of it.
type plan struct {
	situation
	goals goals.Result
	sized sized
	// wants is what the FederatedHPA should be; nil: it stays as it is. removes has it deleted.
	wants   *v1alpha1.FederatedHPASpec
	removes bool
	// childErr is why that could not be written.
	childErr error
}

// sized is what the containers of the template should have, in its order, and what that would save.
type sized struct {
	fleet    []sizes.Size
	clusters []sizedCluster // as those of the situation
	savings  sizes.Savings
	priced   bool // the price of all clusters with Pods is known
	pods     int
	fitting  int // of them have the size that they should
}

// sizedCluster is that of one cluster.
type sizedCluster struct {
	sizes   []sizes.Size
	savings sizes.Savings
	priced  bool
	pods    int
	fitting int
}

// decide answers a situation.
func decide(in situation) plan {
	p := plan{situation: in}
	if in.template != nil {
		result, shares := in.goalsOf()
		p.goals, p.sized = result, in.sizes(shares)
	}
	p.decideChild()
	return p
}

// decideChild decides what becomes of the FederatedHPA. It stays as it is where it is not ours, or another autoscaler is in the
// way.
func (p *plan) decideChild() {
	spec := &p.Object.Spec
	ours := p.owns()
	switch {
	case p.child != nil && !ours, p.Object.Spec.Mode != v1alpha1.ModePaused && len(p.claims) > 0:
	case spec.Goals == nil:
		p.removes = ours && p.child.DeletionTimestamp == nil && spec.Mode != v1alpha1.ModeObserve && spec.Mode != v1alpha1.ModePaused
	case spec.Mode == v1alpha1.ModePaused:
		if ours {
			p.wants = p.child.Spec.DeepCopy()
			p.wants.Mode = spec.Mode
		}
	default:
		p.wants = p.goals.Spec
	}
}

// stranger reports whether the FederatedHPA of the object's name belongs to somebody else.
func (p *plan) stranger() bool {
	return p.child != nil && p.Object.Spec.Goals != nil && !p.owns()
}
