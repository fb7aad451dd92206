// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// situation is what one reconcile knows. What was not read is nil.
type situation struct {
	Object *v1alpha1.MultidimPodAutoscaler // with its defaults
	Now    time.Time
	Sizing

	// child is the FederatedHPA of the object's name, whoever made it.
	child *v1alpha1.FederatedHPA
	// claims are those of others who scale the workload, on the hub.
	claims []claims.Claim
	// beside are those of others on the hub beside whom replicas follow the goals: who sizes the workload, and rules, which yield.
	beside []claims.Claim
	// sizers are those of them that size it.
	sizers []claims.Claim
	// yields: one of them is of an older MultidimPodAutoscaler.
	yields bool
	// clusters are those that the object selects, in name order; unselected is why they are not known.
	clusters   []cluster
	unselected error
	// elsewhere are clusters that it does not select, and where new Pods are still created with what it wrote.
	elsewhere []cluster
	// template is what the workload makes Pods of; untold is why that is not known.
	template *template
	untold   error
	// began is when this process first asked the hub's metrics API, measured when that last answered, and unmeasured why it does not now.
	began      time.Time
	measured   time.Time
	unmeasured error
	// takenOver says what is used that others have learned.
	takenOver []string
	// fed and advice are what became of what was used; unlearned is why there is none.
	fed       []history.Fed
	advice    []history.Advice
	unlearned error
	// tells: the advice is to come with what it is made of, so that it can be recorded. before is what was advised before.
	tells  bool
	before map[string]lastAdvice
}

// template is what a workload makes Pods of, and how they are found.
type template struct {
	*corev1.PodTemplateSpec
	selector labels.Selector
	from     string // the cluster where it was read; empty: the hub
}

// cluster is one cluster, with what is remembered of it, and what follows.
type cluster struct {
	workload.Cluster
	sizing.Sizer
	name   string
	others []claims.Claim // on the workload, there
	vpas   []*vpa.VerticalPodAutoscaler
	pods   pods.SizedListing
	uses   hubmetrics.ClusterUses
	limits capacity.LimitRanges
	nodes  capacity.LargestNodes
	quota  capacity.QuotaLeft

	// What follows is read only if Pods are to be given their sizes.

	can     sizing.Support
	entries sizing.PodSizes
	// unclaimed is why it was never seen who else has the workload there; nil: it was.
	unclaimed *fleet.Silence
	// shares: it runs the workload that the template is of. unshared is why not, if that is a fault.
	shares   bool
	unshared string
	// rates are how many Pods may be changed there now.
	rates Rates
	// memory is what is remembered of it; nil: nothing.
	memory *clusterMemory

	// What follows is how its Pods come to their sizes.

	mode      sizes.Mode
	admission v1alpha1.SizeAdmission
	// sets is what new Pods are to be created with, unless that stands there. removes: what stands there is to go.
	sets    *fleetscalev1alpha1.SizedWorkload
	removes bool
	moves   []sizes.Move
	// unlabelled: new Pods cannot be told from others by their labels.
	unlabelled bool
	// resizing, deferred and infeasible count Pods by what becomes of their resize.
	resizing, deferred, infeasible int32

	// What follows came of that.

	giveErr error     // why what new Pods are created with could not be written
	sent    []outcome // what came of the moves
}

func clusterOf(c workload.Cluster) cluster {
	return cluster{Cluster: c, Sizer: c.Sizer(), name: c.Facts().Name}
}

// silent is why it is not known what the cluster's Pods use, or which there are; nil: it is.
func (c *cluster) silent() *fleet.Silence {
	switch {
	case c.pods.Silent != nil:
		return c.pods.Silent
	case c.uses.Silence != nil:
		return c.uses.Silence
	case !c.pods.Known:
		return &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "its Pods have not been listed yet"}
	case c.uses.Outcome == hubmetrics.Absent:
		return &fleet.Silence{Reason: reasonNoMetrics, Detail: "it does not serve metrics.k8s.io"}
	case c.uses.Outcome != hubmetrics.Answered:
		return &fleet.Silence{Reason: reasonNoMetrics, Detail: "the hub's metrics API does not know it"}
	}
	return nil
}

// reasonNoMetrics is of a cluster in which nothing is measured.
const reasonNoMetrics fleet.Reason = "NoMetrics"

// running are the Pods that count.
func (c *cluster) running() []pods.SizedPod {
	all := make([]pods.SizedPod, 0, len(c.pods.Pods))
	for _, p := range c.pods.Pods {
		if !p.Terminating && p.Phase != corev1.PodFailed && p.Phase != corev1.PodSucceeded {
			all = append(all, p)
		}
	}
	return all
}

// owns reports whether the FederatedHPA is the object's own.
func (in *situation) owns() bool {
	return in.child != nil && metav1.IsControlledBy(in.child, in.Object)
}

// active reports whether what is decided is carried out.
func (in *situation) active() bool {
	return in.Object.Spec.Mode != v1alpha1.ModeObserve && in.decides()
}

// decides reports whether anything is decided.
func (in *situation) decides() bool {
	return in.Object.Spec.Mode != v1alpha1.ModePaused && !tenancy.Reserved(in.Object.Namespace)
}

// held reports whether a cluster is silent, so that nothing becomes less.
func (in *situation) held() bool {
	for i := range in.clusters {
		if in.clusters[i].silent() != nil {
			return true
		}
	}
	return false
}
