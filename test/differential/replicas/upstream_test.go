// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"reflect"
	"sync"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"

	ours "github.com/fleetscale/fleetscale/pkg/replicas"
)

var options = ours.Options{
	StabilizationWindow:     5 * time.Minute,
	Tolerance:               0.1,
	CPUInitializationPeriod: 5 * time.Minute,
	InitialReadinessDelay:   30 * time.Second,
}

// upstream is Kubernetes' controller with everything around it replaced.
type upstream struct {
	w       *world
	hpas    cache.Indexer
	podList cache.Indexer
	handler cache.ResourceEventHandler
	stop    context.CancelFunc

	// Of the reconcile that runs; what it writes is under the lock.
	events   []event
	lock     sync.Mutex
	writes   []int32
	wroteAt  time.Time
	writeErr error
}

// period is that of the controller's own syncs: longer than any scenario.
const period = 10_000 * time.Hour

func newUpstream(w *world) *upstream {
	u := &upstream{w: w,
		hpas:    cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		podList: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
	}
	u.start()
	return u
}

// start begins a new controller, which knows nothing of the former one.
func (u *upstream) start() {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	u.stop = stop
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "apps", Version: "v1"}})
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	controller := podautoscaler.NewHorizontalController(ctx, noEvents{}, scales{u: u}, statuses{u: u}, mapper, metricsOf{u}, hpaInformer{u},
		podInformer{u},
		period, options.StabilizationWindow, options.Tolerance, options.CPUInitializationPeriod, options.InitialReadinessDelay)
	replaceRecorder(controller, recorder{u})
	go controller.Run(ctx, 1)
	time.Sleep(time.Second)
	synctest.Wait()
}

// restart ends the controller and begins another.
func (u *upstream) restart() {
	u.stop()
	synctest.Wait()
	u.start()
	if u.w.rivals {
		u.meetRival()
	}
}

// replaceRecorder takes away the recorder that joins and drops events.
func replaceRecorder(c *podautoscaler.HorizontalController, r record.EventRecorder) {
	field := reflect.ValueOf(c).Elem().FieldByName("eventRecorder")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(r))
}

// reconcile lets the controller reconcile the world once.
func (u *upstream) reconcile() outcome {
	u.hold()
	u.events, u.writes, u.writeErr = nil, nil, nil
	u.handler.OnAdd(u.w.hpa, false)
	synctest.Wait()
	if u.tryingAgain() {
		time.Sleep(time.Second) // it waits between tries
		synctest.Wait()
	}
	return outcome{Writes: u.writes, Status: u.stored().Status, Events: u.events}
}

// tryingAgain reports whether a write has failed. The controller may wait for its next try meanwhile, so this is locked.
func (u *upstream) tryingAgain() bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	return u.writeErr != nil
}

// hold puts the world into what the controller lists.
func (u *upstream) hold() {
	hpa := u.w.hpa.DeepCopy()
	if stored := u.stored(); stored != nil {
		hpa.Status = stored.Status
	}
	u.w.hpa = hpa
	must(u.hpas.Add(hpa))
	var pods []any
	for _, p := range u.w.pods {
		pods = append(pods, u.w.seenByUpstream(p))
	}
	must(u.podList.Replace(append(pods, u.w.standIns()...), ""))
}

func (u *upstream) stored() *autoscalingv2.HorizontalPodAutoscaler {
	item, found, err := u.hpas.GetByKey(namespace + "/" + name)
	must(err)
	if !found {
		return nil
	}
	return item.(*autoscalingv2.HorizontalPodAutoscaler)
}

// meetRival makes the controller know another autoscaler, and its selector.
func (u *upstream) meetRival() {
	target := int32(50)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: rival},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: rival},
			MaxReplicas:    1,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: "rival", Target: autoscalingv2.MetricTarget{AverageUtilization: &target}}}},
		},
	}
	must(u.hpas.Add(hpa))
	u.handler.OnAdd(hpa, false)
	synctest.Wait()
}

func (u *upstream) forgetRival() {
	item, _, err := u.hpas.GetByKey(namespace + "/" + rival)
	must(err)
	must(u.hpas.Delete(item))
	u.handler.OnDelete(item)
	synctest.Wait()
}

// seenByUpstream is the Pod as the controller is to see it: one of a cluster that is being drained as if it were deleted.
func (w *world) seenByUpstream(p pod) *corev1.Pod {
	if p.cluster != w.drained || p.DeletionTimestamp != nil {
		return p.Pod
	}
	deleted := p.DeepCopy()
	deleted.DeletionTimestamp = &metav1.Time{}
	return deleted
}

// standIns are Pending Pods for those that are not created yet.
func (w *world) standIns() []any {
	var pods []any
	for cluster, n := range w.uncreated {
		for i := range n {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: unionName(cluster, "uncreated-", i), Labels: webLabels}}
			p.Spec, p.Status.Phase = template(), corev1.PodPending
			pods = append(pods, p)
		}
	}
	return pods
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
