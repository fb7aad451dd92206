// SPDX-License-Identifier: Apache-2.0

package record

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Spec is the spec in records of decisions, of which there is one for each generation: it outlives the object.
type Spec struct {
	uid        types.UID
	generation int64
	spec       *v1alpha1.FederatedHPASpec
}

// Of returns that of an object.
func (s *Spec) Of(object *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPASpec {
	if s.spec == nil || s.uid != object.UID || s.generation != object.Generation {
		s.spec, s.uid, s.generation = object.Spec.DeepCopy(), object.UID, object.Generation
	}
	return s.spec
}
