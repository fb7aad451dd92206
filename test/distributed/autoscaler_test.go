// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
)

const (
	window    = 5 * time.Minute
	tolerance = 0.1
	// resync is the time between syncs by the controller itself: longer than any scenario, as they are told to sync.
	resync = 10_000 * time.Hour
)

// autoscaler is the HorizontalPodAutoscaler controller of a member, with everything around it replaced.
type autoscaler struct {
	m       *member
	handler cache.ResourceEventHandler
	stop    context.CancelFunc
}

func newAutoscaler(m *member) *autoscaler {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	a := &autoscaler{m: m, stop: stop}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "apps", Version: "v1"}})
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	controller := podautoscaler.NewHorizontalController(ctx, noEvents{}, scales{m: m}, statuses{m: m}, mapper, metricsOf{m}, hpaInformer{a},
		podInformer{a},
		resync, window, tolerance, 5*time.Minute, 30*time.Second)
	replaceRecorder(controller)
	go controller.Run(ctx, 1)
	return a
}

// replaceRecorder takes away the recorder that sends events somewhere.
func replaceRecorder(c *podautoscaler.HorizontalController) {
	field := reflect.ValueOf(c).Elem().FieldByName("eventRecorder")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(record.EventRecorder(&record.FakeRecorder{})))
}

// sync makes the controller reconcile all autoscalers; it does so in a goroutine of its own.
func (a *autoscaler) sync() {
	stored := a.m.stored()
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		a.poke(stored[key])
	}
	for _, hpa := range a.m.gone {
		a.poke(hpa)
	}
	a.m.gone, a.m.touched = nil, false
}

func (a *autoscaler) poke(hpa *autoscalingv2.HorizontalPodAutoscaler) { a.handler.OnAdd(hpa, false) }
