// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// soon is the delay of the next reconcile where something is awaited, or another was faster.
const soon = perobject.Soon

// Options configure a [Reconciler].
type Options struct {
	// Hub reads autoscalers from a cache, and writes.
	Hub client.Client
	// Live reads workloads from the hub's API server itself.
	Live client.Reader
	// Scales reads the scale subresource of workloads whose spec has no selector.
	Scales scale.ScalesGetter
	Fleet  *selection.Reader
	// VPAs are those of the hub.
	VPAs    VPAs
	Uses    Uses
	History *history.Store
	// Hold is why nothing may be done now; nil: something may.
	Hold func() error
	// Grace is how long a deletion waits for clusters.
	Grace time.Duration
	// Period is the time between two reconciles of an object.
	Period  time.Duration
	Sizing  Sizing
	Rates   Rates
	Clock   clock.PassiveClock
	Events  events.EventRecorder
	Metrics *Metrics
	// MostShown is how many objects have metrics of their own.
	MostShown int
	// Observes is for a program that writes nothing: what it is given has objects observe, and keeps their statuses.
	Observes bool
	// Shards has the objects; nil: all are reconciled by the leader.
	Shards *sharding.Shards
	// Records is handed the record of each decision on sizes; nil: none is made.
	Records Records
}

// Records keeps records, which no longer change. Nobody waits for it.
type Records interface {
	Record(r *recording.Record)
}

// Sizing is how sizes are decided, besides what the objects say.
type Sizing struct {
	// PodMinimum is the least that a Pod requests, all its sized containers together.
	PodMinimum sizes.Amounts
	// Headroom is how many percent of the largest node are left to others.
	Headroom int64
	// Price is of clusters whose registration states none. 0: it is not known.
	Price sizes.Price
	// ResizeDeferred is how long a resize may wait for room on its node, and ResizeTimeout how long it may be under way.
	ResizeDeferred, ResizeTimeout time.Duration
}

// Uses asks the hub for what all containers of a workload use.
type Uses interface {
	Uses(ctx context.Context, question hubmetrics.Question) ([]hubmetrics.ClusterUses, error)
}

// VPAs reads the VerticalPodAutoscalers of a namespace, nearly always without asking for them.
type VPAs interface {
	VPAs(ctx context.Context, namespace string) sizing.VPAs
}

// Reconciler reconciles MultidimPodAutoscalers.
type Reconciler struct {
	Options
	memories perobject.Store[memory]
	limiters limiters
}

// memory is what is known of one object from one reconcile to the next. What must outlive the program is in its status, and in
// its history.
type memory struct {
	of       string // the workload
	workload workloadMemory
	last     map[string]lastAdvice // by container
	seen     map[string]bool       // clusters from which others' learning was taken over, if there was any
	began    time.Time             // when this process first asked the hub's metrics API
	measured time.Time             // when that last answered; zero if not to this process
	written  time.Time             // when the status was; zero if not by this process
	// explained is what its explanation was limited by then.
	explained explanation.Memory
	clusters  map[string]*clusterMemory
	gave      time.Time // when it was last written what new Pods are created with; zero: not by this process
	waiting   []string  // the clusters that a deletion waits for
	recorded  recordedSpec
}

// lastAdvice is what was advised before: nothing becomes less while a cluster is silent.
type lastAdvice struct {
	fleet    sizes.Advice
	clusters map[string]sizes.Advice
}

// New returns a reconciler, to be called by one replica at a time for each object.
func New(o Options) *Reconciler {
	r := &Reconciler{Options: o, limiters: limiters{Rates: o.Rates, part: o.Shards.Part}}
	r.memories.Dropped = func(key client.ObjectKey, _ *memory) {
		r.History.Forget(key.Namespace, key.Name)
		r.Metrics.forget(key)
	}
	return r
}

// Leave saves and forgets what was learned of objects that another replica is to reconcile, which loads it.
func (r *Reconciler) Leave(ctx context.Context, in func(client.ObjectKey) bool) {
	r.History.Save(ctx, in)
	r.memories.ForgetAll(in)
}

// Reconcile recommends sizes for one workload, and keeps the FederatedHPA that scales it in step with the goals. An error is
// returned, not logged; it was reported in the status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if r.Hold() != nil {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	object := &v1alpha1.MultidimPodAutoscaler{}
	err := r.Hub.Get(ctx, request.NamespacedName, object)
	switch {
	case apierrors.IsNotFound(err):
		r.memories.Forget(request.NamespacedName)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	case object.DeletionTimestamp != nil && r.Observes: // it has nothing of ours to take away
		r.memories.Forget(request.NamespacedName)
		return reconcile.Result{}, nil
	case object.DeletionTimestamp != nil:
		return r.again(r.end(ctx, object))
	}
	v1alpha1.DefaultMultidimPodAutoscaler(object)
	memory := r.memories.Of(object)
	if of := workloadOf(object); memory.of != of {
		memory.of, memory.workload, memory.last, memory.seen, memory.clusters = of, workloadMemory{}, nil, nil, nil
	}
	if s := object.Status.Summary; s != nil && s.Target != memory.of {
		object.Status = v1alpha1.MultidimPodAutoscalerStatus{Conditions: object.Status.Conditions} // it speaks of another workload
	}
	return r.again(r.reconcile(ctx, object, memory))
}

// workloadOf names what the object is for.
func workloadOf(object *v1alpha1.MultidimPodAutoscaler) string {
	return object.Spec.ScaleTargetRef.Kind + "/" + object.Spec.ScaleTargetRef.Name
}

func (r *Reconciler) reconcile(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, memory *memory) error {
	started := r.Clock.Now()
	in := situation{Object: object, Now: started, Sizing: r.Sizing, tells: r.Records != nil}
	r.onHub(ctx, &in)
	if in.decides() {
		r.gather(ctx, &in, memory)
		r.learn(ctx, &in, memory)
	}
	p := decide(in)
	if r.Records != nil && p.recorded() {
		r.Records.Record(p.recordOf(memory.recorded.of(object)))
	}
	if !r.Observes {
		p.childErr = r.apply(ctx, &p)
	}
	actErr := r.act(ctx, &p, memory)
	err := cmp.Or(r.record(ctx, &p, memory), p.childErr, actErr)
	r.Metrics.reconciled(&p, r.MostShown, r.Clock.Since(started))
	if r.Fleet.Fleet.Settled() == nil && r.Metrics.due(started) {
		r.Metrics.keep(r.Fleet.Fleet.Clusters())
	}
	return err
}

// act has Pods come to their sizes. Where they are not to, what new ones would be created with is taken away. While the object only
// observes, it is decided what would be done.
func (r *Reconciler) act(ctx context.Context, p *plan, memory *memory) error {
	if !p.active() {
		if p.decides() {
			p.actuate()
		}
		return nil
	}
	if !p.Object.Spec.Policy.Acts() {
		memory.clusters = nil
		waiting, err := r.withdraw(ctx, p.Object, memory)
		r.waits(p.Object, memory, waiting)
		return err
	}
	p.actuate()
	for i := range p.elsewhere {
		p.elsewhere[i].removes = true
	}
	if slices.ContainsFunc(p.clusters, func(c cluster) bool { return c.sets != nil }) {
		memory.gave = p.Now
	}
	if err := r.give(ctx, p); err != nil {
		return err
	}
	r.move(ctx, p)
	for i := range p.clusters {
		p.clusters[i].remember(p.Now)
	}
	return nil
}

// end lets a deleted object go once what it wrote is gone from all clusters, or has not been for the grace. What it owns goes with it,
// and Pods keep their sizes.
func (r *Reconciler) end(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler) error {
	memory := r.memories.Of(object)
	waiting, err := r.withdraw(ctx, object, memory)
	if len(waiting) > 0 && r.Clock.Since(object.DeletionTimestamp.Time) >= r.Grace {
		r.Events.Eventf(object, nil, corev1.EventTypeWarning, eventLeftBehind, "Withdraw", "%s", summary.Brief(fmt.Sprintf(
			"what new Pods are created with is left behind, in clusters that could not be written for %v: %s; delete the entry %q of "+
				"PodSizes there", r.Grace, strings.Join(waiting, "; "), object.Name), summary.LongestNote))
		return client.IgnoreNotFound(r.finalize(ctx, object, controllerutil.RemoveFinalizer))
	}
	r.waits(object, memory, waiting)
	if len(waiting) > 0 {
		return r.sayWaiting(ctx, object, memory.waiting)
	}
	return err
}

// sayWaiting has a condition name the clusters that a deletion waits for.
func (r *Reconciler) sayWaiting(ctx context.Context, object *v1alpha1.MultidimPodAutoscaler, clusters []string) error {
	said := object.DeepCopy()
	changed := meta.SetStatusCondition(&said.Status.Conditions, metav1.Condition{
		Type: v1alpha1.MultidimVerticalActuation, Status: metav1.ConditionFalse, Reason: eventWaiting, ObservedGeneration: object.Generation,
		LastTransitionTime: metav1.Time{Time: r.Clock.Now()},
		Message: summary.Brief("what new Pods are created with is still there, in clusters that are waited for: "+
			strings.Join(clusters, ", "), summary.LongestMessage),
	})
	if !changed {
		return nil
	}
	return client.IgnoreNotFound(r.Hub.Status().Update(ctx, said, client.FieldOwner(FieldManager)))
}

// waits tells once which clusters are waited for until what was written there is gone.
func (r *Reconciler) waits(object *v1alpha1.MultidimPodAutoscaler, memory *memory, waiting []string) {
	var names []string // the rest may read otherwise each time
	for _, w := range waiting {
		name, _, _ := strings.Cut(w, ": ")
		names = append(names, name)
	}
	if len(names) > 0 && !slices.Equal(names, memory.waiting) {
		r.Events.Eventf(object, nil, corev1.EventTypeWarning, eventWaiting, "Withdraw", "%s",
			summary.Brief("what new Pods are created with is still there, in clusters that are waited for: "+strings.Join(waiting, "; "),
				summary.LongestNote))
	}
	memory.waiting = names
}

// again requeues after one period, but at once where the object was changed meanwhile.
func (r *Reconciler) again(err error) (reconcile.Result, error) {
	return perobject.Again(err, r.Period)
}
