// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/plugin/crontab"
	"github.com/fleetscale/fleetscale/pkg/plugin/status"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// kind is one that the page shows.
type kind struct {
	// short is what people type, and the first part of an id.
	short, name, resource string
	empty                 func() client.Object
}

var kinds = []kind{
	{"fhpa", v1alpha1.FederatedHPAKind, "federatedhpas", func() client.Object { return &v1alpha1.FederatedHPA{} }},
	{"mpa", v1alpha1.MultidimPodAutoscalerKind, "multidimpodautoscalers", func() client.Object { return &v1alpha1.MultidimPodAutoscaler{} }},
	{"cronfhpa", v1alpha1.CronFederatedHPAKind, "cronfederatedhpas", func() client.Object { return &v1alpha1.CronFederatedHPA{} }},
}

// id is that of an autoscaler on the page: its kind, namespace and name, none of which has a slash.
func (k kind) id(namespace, name string) string { return k.short + "/" + namespace + "/" + name }

func kindOf(object client.Object) kind {
	switch object.(type) {
	case *v1alpha1.MultidimPodAutoscaler:
		return kinds[1]
	case *v1alpha1.CronFederatedHPA:
		return kinds[2]
	}
	return kinds[0]
}

// row is an autoscaler in the list of all.
type row struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is another whenever the object has changed.
	Version string `json:"version"`
	Target  string `json:"target"`
	// State is empty before there is a status.
	State string `json:"state"`
	// Severity is 0 for the worst state.
	Severity int `json:"severity"`
	// Why is what is wrong; empty: nothing is.
	Why string `json:"why,omitempty"`
	// Desired is absent while it is not known.
	Desired *int32 `json:"desired,omitempty"`
	Ready   *int32 `json:"ready,omitempty"`
	Min     *int32 `json:"min,omitempty"`
	Max     *int32 `json:"max,omitempty"`
	// Targets are the metrics as current/goal.
	Targets string `json:"targets,omitempty"`
	// Seen is how many clusters are seen, of those that take part.
	Seen string `json:"seen,omitempty"`
	// Next is when a rule of it runs next; 0: none does.
	Next int64 `json:"next,omitempty"`
	// Sized is how many Pods have the size that is recommended, of all.
	Sized string `json:"sized,omitempty"`
}

// rowOf is the line of an autoscaler.
func rowOf(object client.Object, now time.Time) row {
	k := kindOf(object)
	r := row{
		ID: k.id(object.GetNamespace(), object.GetName()), Kind: k.name, Namespace: object.GetNamespace(), Name: object.GetName(),
		Version: object.GetResourceVersion(),
	}
	r.State, r.Why = status.Judge(object)
	r.Severity = status.Severity(r.State)
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		r.Target = reference(o.Spec.ScaleTargetRef)
		r.Min, r.Max = new(ptr.Deref(o.Spec.MinReplicas, 1)), new(o.Spec.MaxReplicas)
		if s := o.Status.Summary; s != nil {
			r.Desired, r.Ready, r.Targets, r.Seen = summary.Desired(&o.Status), o.Status.ReadyReplicas, s.Targets, s.Clusters
		}
	case *v1alpha1.MultidimPodAutoscaler:
		r.Target = reference(o.Spec.ScaleTargetRef)
		r.Min, r.Max = multidimBounds(o)
		if s := o.Status.Summary; s != nil {
			r.Desired, r.Sized, r.Seen = summary.MultidimDesired(o), s.Sized, multidimClusters(o.Status.Clusters)
			if o.Spec.Goals != nil {
				r.Targets = summary.Targets(o.Spec.Goals.Metrics, o.Status.CurrentMetrics)
			}
		}
	case *v1alpha1.CronFederatedHPA:
		r.Target = reference(o.Spec.ScaleTargetRef)
		if runs := crontab.Upcoming([]*v1alpha1.CronFederatedHPA{o}, crontab.Span{Now: now, Count: 1, Local: time.UTC}); len(runs) > 0 &&
			runs[0].At != nil {
			r.Next = runs[0].At.UnixMilli()
		}
	}
	return r
}

// unreadableRow is the line of one that nobody should decode.
func unreadableRow(k kind, meta metav1.Object, why error) row {
	return row{
		ID: k.id(meta.GetNamespace(), meta.GetName()), Kind: k.name, Namespace: meta.GetNamespace(), Name: meta.GetName(),
		Version: meta.GetResourceVersion(), State: "Unreadable", Severity: status.Severity("Unreadable"), Why: why.Error(),
	}
}

func reference(to autoscalingv2.CrossVersionObjectReference) string { return to.Kind + "/" + to.Name }

// multidimBounds are nil without goals: then nobody changes replicas.
func multidimBounds(o *v1alpha1.MultidimPodAutoscaler) (least, most *int32) {
	bounds := cronplan.BoundsIn(o)
	if bounds == nil {
		return nil, nil
	}
	return new(ptr.Deref(*bounds.Min, 1)), new(*bounds.Max)
}

func multidimClusters(clusters []v1alpha1.MultidimClusterStatus) string {
	all := make([]v1alpha1.ClusterStatus, len(clusters))
	for i := range clusters {
		all[i].State = clusters[i].State
	}
	return summary.Clusters(all)
}
