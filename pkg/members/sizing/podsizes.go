// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// PodSizes are the sizes that new Pods of one namespace of a cluster get.
type PodSizes struct {
	// Workloads are in the order in which the cluster reads them: a Pod that several match gets the size of the first. They are
	// shared: do not write to them. A cluster that does not serve the kind has none.
	Workloads []v1alpha1.SizedWorkload
	// Generation is that of the object, which [v1alpha1.SizedByAnnotation] names. Zero: there is none.
	Generation int64
	// Known is false where Workloads say nothing, as they were never seen.
	Known bool
	// Silence is why they cannot be seen now, so that Workloads are as they were last; nil if they can.
	Silence *fleet.Silence
}

// Find returns the sizes of the workload of that name; nil if there are none.
func (s PodSizes) Find(name string) *v1alpha1.SizedWorkload {
	for i := range s.Workloads {
		if s.Workloads[i].Name == name {
			return &s.Workloads[i]
		}
	}
	return nil
}

func newPodSizes(scope tenancy.Scope) *mirror.Mirror[*v1alpha1.PodSizes, podSizesRecord] {
	return mirror.New(mirror.Options[*v1alpha1.PodSizes, podSizesRecord]{
		Resource: podSizesResource,
		Optional: true,
		Keep:     podSizesRecordOf,
		Scope:    scope,
	})
}

var podSizesResource = v1alpha1.SchemeGroupVersion.WithResource(v1alpha1.PodSizesResource)

// podSizesRecord is what is kept of a PodSizes.
type podSizesRecord struct{ *v1alpha1.PodSizes }

var _ mirror.Object = podSizesRecord{}

func (r podSizesRecord) Key() mirror.Key { return mirror.Key{Namespace: r.Namespace, Name: r.Name} }

func (r podSizesRecord) Bytes() int64 { return compact.Bytes(r.PodSizes) }

// podSizesRecordOf keeps nothing but the name of one that has no effect, and of others no more than their kind allows.
func podSizesRecordOf(s *v1alpha1.PodSizes) podSizesRecord {
	kept := &v1alpha1.PodSizes{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Generation: s.Generation}}
	if s.Name == v1alpha1.PodSizesName {
		kept.Workloads = boundedWorkloads(s.Workloads)
	}
	return podSizesRecord{kept}
}

// PodSizes implements [Sizer]: from what is watched.
func (s sizer) PodSizes(ctx context.Context, namespace string) PodSizes {
	answer := s.all.podSizes.Ask(ctx, s.Member, namespace)
	seen := PodSizes{Known: answer.Known, Silence: answer.Silence}
	if r, found := answer.Find(mirror.Key{Namespace: namespace, Name: v1alpha1.PodSizesName}); found {
		seen.Workloads, seen.Generation = r.Workloads, r.Generation
	}
	return seen
}
