// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

type noEvents struct{ coreclient.EventInterface }

func (noEvents) Events(string) coreclient.EventInterface { return noEvents{} }

// recorder notes what is said of our autoscaler.
type recorder struct{ u *upstream }

var _ record.EventRecorder = recorder{}

func (r recorder) Event(object runtime.Object, kind, reason, message string) {
	if object.(*autoscalingv2.HorizontalPodAutoscaler).Name == name {
		r.u.events = append(r.u.events, event{kind, reason, message})
	}
}

func (r recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

func (r recorder) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Eventf(object, kind, reason, format, args...)
}

// scales is the scale of our workload, and of the rival's, which never changes.
type scales struct {
	scale.ScaleInterface
	u *upstream
}

func (s scales) Scales(string) scale.ScaleInterface { return s }

func (s scales) Get(_ context.Context, _ schema.GroupResource, workload string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	t := &s.u.w.target
	of := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: workload, Namespace: namespace}}
	if workload == rival {
		of.Spec.Replicas, of.Status.Selector = 1, labels.FormatLabels(webLabels)
		return of, nil
	}
	of.Spec.Replicas, of.Status = t.replicas, autoscalingv1.ScaleStatus{Replicas: t.statusReplicas, Selector: t.selector}
	return of, t.getErr
}

func (s scales) Update(_ context.Context, gr schema.GroupResource, of *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale,
	error) {
	s.u.lock.Lock()
	defer s.u.lock.Unlock()
	t := &s.u.w.target
	s.u.writes = append(s.u.writes, of.Spec.Replicas)
	s.u.wroteAt = time.Now()
	switch {
	case t.conflicts > 0:
		t.conflicts--
		s.u.writeErr = apierrors.NewConflict(gr, of.Name, errors.New("changed meanwhile"))
	case t.updateErr != nil:
		s.u.writeErr = t.updateErr
	default:
		s.u.writeErr, t.replicas = nil, of.Spec.Replicas
	}
	return of, s.u.writeErr
}

type statuses struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	u *upstream
}

func (s statuses) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return s
}

var errStatus = errors.New("the status cannot be written")

func (s statuses) UpdateStatus(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler,
	_ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	if hpa.Name != name {
		return hpa, nil
	}
	if s.u.w.statusFail {
		return nil, errStatus
	}
	stored := s.u.stored().DeepCopy()
	stored.Status = hpa.Status
	return stored, s.u.hpas.Update(stored)
}

type informer struct {
	cache.SharedIndexInformer
	u *upstream
}

func (informer) HasSynced() bool { return true }

func (i informer) GetStore() cache.Store { return i.u.hpas }

func (i informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration,
	error) {
	i.u.handler = h
	return nil, nil
}

type hpaInformer struct{ u *upstream }

func (i hpaInformer) Informer() cache.SharedIndexInformer { return informer{u: i.u} }

func (i hpaInformer) Lister() autoscalinglisters.HorizontalPodAutoscalerLister {
	return autoscalinglisters.NewHorizontalPodAutoscalerLister(i.u.hpas)
}

type podInformer struct{ u *upstream }

func (i podInformer) Informer() cache.SharedIndexInformer { return informer{u: i.u} }

func (i podInformer) Lister() corelisters.PodLister { return corelisters.NewPodLister(i.u.podList) }

// metricsOf answers from the world.
type metricsOf struct{ u *upstream }

var _ metrics.MetricsClient = metricsOf{}

func (m metricsOf) GetResourceMetric(_ context.Context, resource corev1.ResourceName, _ string, _ labels.Selector,
	container string) (metrics.PodMetricsInfo, time.Time, error) {
	return m.samples("resource/" + string(resource) + "/" + container)
}

func (m metricsOf) GetRawMetric(metric, _ string, _, _ labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return m.samples("pods/" + metric)
}

func (m metricsOf) samples(question string) (metrics.PodMetricsInfo, time.Time, error) {
	a, found := m.u.w.answers[question]
	if !found {
		return nil, time.Time{}, errors.New("not asked for: " + question)
	}
	info := metrics.PodMetricsInfo{}
	for union, s := range maps.All(a.samples) {
		info[union] = metrics.PodMetric{Timestamp: s.at, Window: s.window, Value: s.value}
	}
	return info, time.Time{}, a.err
}

func (m metricsOf) GetObjectMetric(metric, _ string, _ *autoscalingv2.CrossVersionObjectReference, _ labels.Selector) (int64, time.Time,
	error) {
	a := m.u.w.answers["object/"+metric]
	if a.err != nil {
		return 0, time.Time{}, a.err
	}
	return a.values[0], time.Time{}, nil
}

func (m metricsOf) GetExternalMetric(metric, _ string, _ labels.Selector) ([]int64, time.Time, error) {
	a := m.u.w.answers["external/"+metric]
	return slices.Clone(a.values), time.Time{}, a.err
}
