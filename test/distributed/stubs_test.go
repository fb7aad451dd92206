// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// What a member's own autoscaler reads and writes.

type noEvents struct{ coreclient.EventInterface }

func (noEvents) Events(string) coreclient.EventInterface { return noEvents{} }

type scales struct {
	scale.ScaleInterface
	m *member
}

func (s scales) Scales(string) scale.ScaleInterface { return s }

func (s scales) Get(_ context.Context, gr schema.GroupResource, _ string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	s.m.fleet.lock.Lock()
	defer s.m.fleet.lock.Unlock()
	return s.m.scale(gr)
}

func (s scales) Update(_ context.Context, gr schema.GroupResource, to *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale,
	error) {
	s.m.fleet.lock.Lock()
	defer s.m.fleet.lock.Unlock()
	from := s.m.replicas()
	if err := s.m.setScale(gr, to); err != nil {
		return nil, err
	}
	s.m.fleet.judge.autoscaled(s.m, from, to.Spec.Replicas)
	return to, nil
}

func (m *member) scale(gr schema.GroupResource) (*autoscalingv1.Scale, error) {
	if m.workload == nil {
		return nil, apierrors.NewNotFound(gr, name)
	}
	of := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: m.workload.uid,
		ResourceVersion: versionOf(m.workload.version)}}
	of.Spec.Replicas = m.workload.replicas
	of.Status = autoscalingv1.ScaleStatus{Replicas: int32(len(m.pods)), Selector: labels.FormatLabels(webLabels)}
	return of, nil
}

func (m *member) setScale(gr schema.GroupResource, to *autoscalingv1.Scale) error {
	switch {
	case m.workload == nil:
		return apierrors.NewNotFound(gr, name)
	case to.ResourceVersion != versionOf(m.workload.version):
		return apierrors.NewConflict(gr, name, errors.New("somebody wrote since"))
	}
	m.workload.version++
	m.workload.replicas = to.Spec.Replicas
	return nil
}

type statuses struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	m *member
}

func (s statuses) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return s
}

func (s statuses) UpdateStatus(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler,
	_ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	s.m.fleet.lock.Lock()
	defer s.m.fleet.lock.Unlock()
	stored := s.m.stored()[hpa.Name]
	if stored == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, hpa.Name)
	}
	after := *stored
	after.Status = *hpa.Status.DeepCopy()
	s.m.put(&after)
	return &after, nil
}

type informer struct {
	cache.SharedIndexInformer
	a *autoscaler
}

func (informer) HasSynced() bool { return true }

func (i informer) GetStore() cache.Store { return i.a.m.hpas }

func (i informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration,
	error) {
	i.a.handler = h
	return nil, nil
}

type hpaInformer struct{ a *autoscaler }

func (i hpaInformer) Informer() cache.SharedIndexInformer { return informer{a: i.a} }

func (i hpaInformer) Lister() autoscalinglisters.HorizontalPodAutoscalerLister {
	return autoscalinglisters.NewHorizontalPodAutoscalerLister(i.a.m.hpas)
}

type podInformer struct{ a *autoscaler }

func (i podInformer) Informer() cache.SharedIndexInformer { return informer{a: i.a} }

func (i podInformer) Lister() corelisters.PodLister { return podLister{m: i.a.m} }

// podLister lists the Pods of a member's workload: there are no others.
type podLister struct {
	corelisters.PodLister
	corelisters.PodNamespaceLister
	m *member
}

func (l podLister) Pods(string) corelisters.PodNamespaceLister { return l }

func (l podLister) List(labels.Selector) ([]*corev1.Pod, error) {
	all := make([]*corev1.Pod, 0, len(l.m.pods))
	for _, p := range l.m.pods {
		all = append(all, l.m.seen(p))
	}
	return all, nil
}

// metricsOf is what a member measures: the load, spread over Ready Pods.
type metricsOf struct{ m *member }

var _ metrics.MetricsClient = metricsOf{}

func (o metricsOf) GetResourceMetric(context.Context, corev1.ResourceName, string, labels.Selector, string) (metrics.PodMetricsInfo,
	time.Time, error) {
	info, now, use := metrics.PodMetricsInfo{}, time.Now(), o.m.use()
	for _, p := range o.m.pods {
		if p.isReady() {
			info[p.name()] = metrics.PodMetric{Timestamp: now, Window: period, Value: use}
		}
	}
	if len(info) == 0 {
		return nil, time.Time{}, errors.New("no metrics returned from resource metrics API")
	}
	return info, now, nil
}

func (o metricsOf) GetRawMetric(string, string, labels.Selector, labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errors.New("nobody asks for that")
}

func (o metricsOf) GetObjectMetric(string, string, *autoscalingv2.CrossVersionObjectReference, labels.Selector) (int64, time.Time, error) {
	return 0, time.Time{}, errors.New("nobody asks for that")
}

func (o metricsOf) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return []int64{o.m.queue()}, time.Now(), nil
}
