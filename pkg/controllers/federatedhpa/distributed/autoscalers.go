// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
)

// seeAutoscalers finds ours among those that were read, and those that are in its place.
func (s *site) seeAutoscalers(object *v1alpha1.FederatedHPA) {
	switch {
	case s.Autoscalers.Silence != nil:
		s.silent(s.Autoscalers.Silence)
	case !s.Autoscalers.Known:
		s.silent(&fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "its HorizontalPodAutoscalers have not been listed yet"})
	}
	found := s.sort(object)
	if s.rejoins() && wasSplit(object) { // the others were split without it
		s.last = assignment.SiteStep{Min: s.least(), Max: s.stands()}
	}
	if why := s.unsupported(object); why != nil && s.inSight() {
		s.leaves(v1alpha1.ClusterExcluded, reasonNotSupported, why.Error())
	}
	if len(found) > 0 && s.inSight() {
		s.leaves(v1alpha1.ClusterConflict, record.ReasonScaledByOthers, claims.InTheWay(found))
	}
}

// rejoins: the cluster has an autoscaler of ours, and was deregistered meanwhile, so that the status has forgotten it.
func (s *site) rejoins() bool { return s.Before.State == "" && s.owns() }

// sort keeps what is ours of the autoscalers of the namespace, and returns the claims of others.
func (s *site) sort(object *v1alpha1.FederatedHPA) []claims.Claim {
	var found []claims.Claim
	asker := claims.InMember(object, true)
	for _, claim := range claims.Names(claims.Beside(asker, s.Autoscalers.Objects...)) {
		s.beside = append(s.beside, claim+" in cluster "+s.Facts.Name)
	}
	for _, hpa := range s.Autoscalers.Objects {
		switch {
		case s.removed != nil && hpa.UID == s.removed.UID: // what is known is from before
		case asker.Owns(claims.Of(hpa)):
			s.keep(newer(s.written, hpa))
		default:
			found = append(found, claims.On(asker, hpa)...)
		}
	}
	if s.own == nil && s.written != nil { // it will be seen
		s.keep(s.written)
	}
	return found
}

// newer returns what we wrote, if what was read is from before.
func newer(written, read *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	if written == nil || written.UID != read.UID {
		return read
	}
	if order, err := resourceversion.CompareResourceVersion(written.ResourceVersion, read.ResourceVersion); err == nil && order > 0 {
		return written
	}
	return read
}

// keep takes an autoscaler for ours; there can be only one.
func (s *site) keep(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if s.own != nil {
		s.surplus = append(s.surplus, hpa)
		return
	}
	s.own, s.name = hpa, hpa.Name
}

// unsupported returns why the cluster cannot have the object's autoscaler.
func (s *site) unsupported(object *v1alpha1.FederatedHPA) error {
	if !s.here() {
		return nil
	}
	_, err := memberhpa.Encode(memberhpa.Render(object, s.name, assignment.SiteStep{Min: 1, Max: 1}), s.Autoscalers.Version)
	return err
}

// seeScale: a cluster whose scale cannot be read is silent.
func (s *site) seeScale() {
	if s.Silence != nil {
		s.silent(s.Silence)
	}
}
