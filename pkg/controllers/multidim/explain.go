// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// explain returns how what is recommended for the fleet was come to; nil: nothing is, or it is somebody else's.
func (p *plan) explain(recommended *v1alpha1.SizeRecommendation) *v1alpha1.SizesExplanation {
	if recommended == nil || recommender(p.Object) != "" {
		return nil
	}
	grounds := make(map[string]sizes.Grounds, len(p.advice))
	for i := range p.advice {
		grounds[p.advice[i].Container] = p.advice[i].Grounds
	}
	return explanation.OfSizes(&p.said.Template, grounds, p.Now)
}
