// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/metrics/pkg/apis/metrics"
)

// podStorage is the resource pods, of kind PodMetrics.
type podStorage struct {
	storage
	writers writers
}

var (
	_ rest.Storage              = (*podStorage)(nil)
	_ rest.KindProvider         = (*podStorage)(nil)
	_ rest.Lister               = (*podStorage)(nil)
	_ rest.Getter               = (*podStorage)(nil)
	_ rest.Scoper               = (*podStorage)(nil)
	_ rest.SingularNameProvider = (*podStorage)(nil)
)

func (*podStorage) New() runtime.Object     { return &metrics.PodMetrics{} }
func (*podStorage) NewList() runtime.Object { return &metrics.PodMetricsList{} }
func (*podStorage) Kind() string            { return "PodMetrics" }
func (*podStorage) NamespaceScoped() bool   { return true }

// List answers with pods by namespace, name and cluster.
func (s *podStorage) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	items, err := s.list(ctx, s.usage.Pods, options)
	if err != nil {
		return nil, err
	}
	c := conversationOf(ctx)
	if err := c.hold(len(items), bytesPerRecord); err != nil {
		return nil, err
	}
	list := &podList{items: items, writers: s.writers, conversation: c}
	if c.wantsObjects() {
		return list.objects()
	}
	return list, nil
}

// Get answers with the pod of that name, if only one cluster has it.
func (s *podStorage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	item, err := s.get(ctx, s.usage.Pods, metrics.Resource("pods"), name)
	if err != nil {
		return nil, err
	}
	pod := &metrics.PodMetrics{}
	item.pod(pod)
	return pod, nil
}

func (f found) pod(m *metrics.PodMetrics) {
	f.Pod(m, 1)
	f.mark(&m.ObjectMeta)
}
