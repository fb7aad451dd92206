// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/setback"
)

// setbacks are how what is written to a cluster is set back there: our autoscaler, and that the workload runs or does not. One that is
// paused is not written. contested: the autoscaler is that, and is known to have been at the last reconcile.
type setbacks struct {
	ofHPA     setback.Record[placed]
	ofScale   setback.Record[bool]
	contested bool
	// version and uid are those of our autoscaler as it was written last.
	version string
	uid     types.UID
}

// placed is an autoscaler as it was found or written; zero: there was none.
type placed struct {
	lower, upper int32
	spec         [sha256.Size]byte
}

func placedOf(hpa *autoscalingv2.HorizontalPodAutoscaler) placed {
	if hpa == nil {
		return placed{}
	}
	text, _ := json.Marshal(hpa.Spec) // structs of the API can always be written
	return placed{ptr.Deref(hpa.Spec.MinReplicas, 1), hpa.Spec.MaxReplicas, sha256.Sum256(text)}
}

func (p placed) String() string { return fmt.Sprintf("%d-%d", p.lower, p.upper) }

// seeSetbacks notes where what was written has been set back. A cluster where our autoscaler is each time is as one that refuses it: it
// keeps what it has, and after the grace the others take its part over. One whose workload is does not take replicas.
func (m *Mode) seeSetbacks(ctx context.Context, in *situation) {
	workload.Each(ctx, m.Fleet.Timeout, in.sites, func(ctx context.Context, s *site) {
		if !s.inSight() {
			return
		}
		before := s.setbacks
		if !before.ofHPA.Blank() && s.shows(before.version) {
			s.ofHPA = before.ofHPA.Sees(placedOf(s.own), in.Object.Generation, in.Now)
		}
		if !before.ofScale.Blank() && s.Scale != nil {
			s.ofScale = before.ofScale.Sees(s.current() > 0, in.Object.Generation, in.Now)
		}
		if s.ofHPA.Pauses(before.ofHPA) {
			s.ofHPA.By = s.fighter(ctx, in.Object, s.autoscalerRef(), "minReplicas", "maxReplicas", "metrics", "behavior")
		}
		if s.ofScale.Pauses(before.ofScale) {
			s.ofScale.By = s.fighter(ctx, in.Object, in.Object.Spec.ScaleTargetRef, "replicas")
		}
		s.contest(before, in)
	})
}

// shows: what is known of our autoscaler is not from before that version. One that is missing was not written lately, or it would be known.
func (s *site) shows(version string) bool {
	if s.own == nil {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(s.own.ResourceVersion, version)
	return err == nil && order >= 0
}

// contest is what follows from setbacks. The others' part of a cluster that they no longer waited for is its own again with the pause.
// While it is tried, the status says what it said: nobody is to hear of it after each pause.
func (s *site) contest(before setbacks, in *situation) {
	s.contested = s.ofHPA.Paused(in.Now)
	if before.contested && !s.contested && in.Now.Sub(before.ofHPA.Since) >= in.options.Grace {
		s.recovered = true
	}
	if s.ofScale.Paused(in.Now) {
		s.balks = true
	}
	switch {
	case s.presence != assignment.Present:
	case s.ofHPA.Lasts(in.Now):
		if s.contested {
			s.presence = assignment.Refusing
		}
		s.reason = record.ReasonScaleUndone
		s.message = fmt.Sprintf("the bounds of HorizontalPodAutoscaler %q in cluster %s were %s, %s, or when the spec or the "+
			"HorizontalPodAutoscaler changes: have that leave it unchanged", s.name, s.Facts.Name, s.howUndone(), s.ofHPA.Story())
	case s.ofScale.Lasts(in.Now):
		s.reason = record.ReasonScaleUndone
		s.message = fmt.Sprintf("the replicas of %s in cluster %s, which was to %s, were set back, %s, or when the spec or the replicas change: "+
			"have that leave spec.replicas alone", workload.Describe(in.Object.Spec.ScaleTargetRef), s.Facts.Name,
			map[bool]string{true: "run", false: "run none"}[s.ofScale.To], s.ofScale.Story())
	}
}

func (b *setbacks) howUndone() string {
	if b.ofHPA.From == (placed{}) {
		return "deleted with it"
	}
	return fmt.Sprintf("set back from %v to %v", b.ofHPA.To, b.ofHPA.From)
}

// autoscalerRef refers to our autoscaler there.
func (s *site) autoscalerRef() autoscalingv2.CrossVersionObjectReference {
	return autoscalingv2.CrossVersionObjectReference{APIVersion: s.Autoscalers.Version, Kind: "HorizontalPodAutoscaler", Name: s.name}
}

// fighter reads who set fields of the spec of an object back; empty: that is not known.
func (s *site) fighter(
	ctx context.Context, object *v1alpha1.FederatedHPA, of autoscalingv2.CrossVersionObjectReference, fields ...string,
) string {
	found, err := s.Member.Get(ctx, object.Namespace, of)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not read who sets back what is written", "cluster", s.Facts.Name, "err", err)
		return ""
	}
	return setback.WhoSet(found.GetManagedFields(), record.FieldManager, fields...)
}

// noted is what is remembered of a write that the cluster took, by what was there before.
func (b *setbacks) noted(c change, hpa placed, ran bool, generation int64, now time.Time) {
	own := c.site.own
	switch {
	case c.remove != nil && own == nil, // and not a further one
		c.write != nil && hpa == (placed{}) && own.UID == b.uid: // nobody had deleted it: it was not known for long
		b.ofHPA = setback.Record[placed]{}
	case c.write != nil:
		if after := placedOf(own); after != hpa {
			b.ofHPA, b.version, b.uid = b.ofHPA.Writes(hpa, after, generation, now), own.ResourceVersion, own.UID
		}
	case c.scale != nil && (*c.scale > 0) != ran:
		b.ofScale = b.ofScale.Writes(ran, *c.scale > 0, generation, now)
	}
}

// setBack counts what was found to be set back since the last reconcile.
func (m *Metrics) setBack(p *plan, memory *Memory) {
	if p.fault != nil {
		return
	}
	for s := range sight.Pointers(p.sites) {
		before := memory.clusters[s.Facts.Name]
		if s.ofHPA.Undone > before.ofHPA.Undone {
			m.undone.WithLabelValues(s.Facts.Name, "apply").Inc()
		}
		if s.ofScale.Undone > before.ofScale.Undone {
			m.undone.WithLabelValues(s.Facts.Name, "scale").Inc()
		}
	}
}
