// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// plan is what is to be done in a situation, and said of it. What is to be done to the Pods of a cluster is noted there.
type plan struct {
	situation
	goals goals.Result
	// asked and said are the decision on sizes; nil: none was made.
	asked *recommendation.Question
	said  recommendation.Decision
	// sized is how the Pods of the fleet compare with that, and sizedIn how those of each cluster do, as the situation has them.
	sized   sized
	sizedIn []sized
	// wants is what the FederatedHPA should be; nil: it stays as it is. removes has it deleted.
	wants   *v1alpha1.FederatedHPASpec
	removes bool
	// childErr is why that could not be written.
	childErr error
}

// sized is how running Pods compare with what they should have, and what that would save.
type sized struct {
	savings sizes.Savings
	priced  bool // the price of all clusters with Pods is known
	pods    int
	fitting int // of them have the size that they should
}

// decide answers a situation.
func decide(in situation) plan {
	p := plan{situation: in}
	if in.template != nil {
		p.decideSizes()
	}
	p.decideChild()
	return p
}

// decideChild decides what becomes of the FederatedHPA. One that is not ours, or is being deleted, stays as it is. Where another
// autoscaler is in the way, or the goals cannot be told, ours only follows the mode. It goes with the goals, and where an older
// MultidimPodAutoscaler has the workload: two that count the same Pods would wait for each other.
func (p *plan) decideChild() {
	spec, ours := &p.Object.Spec, p.owns()
	claimed := len(p.claims) > 0
	switch {
	case tenancy.Reserved(p.Object.Namespace), p.child != nil && (!ours || p.child.DeletionTimestamp != nil):
	case p.active() && (spec.Goals == nil || p.yields):
		p.removes = ours
	case spec.Mode != v1alpha1.ModePaused && !claimed && p.goals.Spec != nil:
		p.wants = p.goals.Spec
	case ours:
		p.wants = p.child.Spec.DeepCopy()
		p.wants.Mode = spec.Mode
	}
}

// stranger reports whether the FederatedHPA of the object's name belongs to somebody else.
func (p *plan) stranger() bool {
	return p.child != nil && p.Object.Spec.Goals != nil && !p.owns()
}
