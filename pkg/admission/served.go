// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
)

// Served is what the hub said of the kind of an object's target.
type Served struct {
	// Versions are those in which the hub serves the kind, the preferred one
	// first; none if it does not serve it.
	Versions []string
}

// federatedHPAWarnings tells of a target that the hub cannot have. Where the
// members are written, the hub need not know the kind.
func (s *Served) federatedHPAWarnings(spec *v1alpha1.FederatedHPASpec) []string {
	if s == nil || len(s.Versions) > 0 || spec.FederatedHPAAssignment != nil || spec.ReplicaDistribution != nil {
		return nil // the version of the reference does not count, as with a HorizontalPodAutoscaler
	}
	return []string{notServed(spec.ScaleTargetRef, "nothing is scaled unless clusters serve it")}
}

// cronWarnings is for a CronFederatedHPA, whose controller asks for the version
// that is written.
func (s *Served) cronWarnings(target autoscalingv2.CrossVersionObjectReference) []string {
	const outcome, unless = "the rules will fail", " unless clusters serve it"
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	switch {
	case s == nil || err != nil:
		return nil
	case len(s.Versions) == 0:
		return []string{notServed(target, outcome+unless)}
	case gv.Version == "" || slices.Contains(s.Versions, gv.Version):
		return nil
	}
	instead := schema.GroupVersion{Group: gv.Group, Version: s.Versions[0]}
	return []string{fmt.Sprintf("spec.scaleTargetRef.apiVersion: the hub does not serve %s in %s, so %s: write %s", target.Kind,
		target.APIVersion, outcome, instead)}
}

func notServed(target autoscalingv2.CrossVersionObjectReference, outcome string) string {
	return fmt.Sprintf("spec.scaleTargetRef: the hub serves no kind %s in the group %s, so %s: correct kind and apiVersion, or install the "+
		"kind's CustomResourceDefinition on the hub",
		target.Kind, cmp.Or(claims.Group(target), `""`), outcome)
}
