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

// nodeStorage is the resource nodes, of kind NodeMetrics.
type nodeStorage struct {
	storage
}

var (
	_ rest.Storage              = (*nodeStorage)(nil)
	_ rest.KindProvider         = (*nodeStorage)(nil)
	_ rest.Lister               = (*nodeStorage)(nil)
	_ rest.Getter               = (*nodeStorage)(nil)
	_ rest.Scoper               = (*nodeStorage)(nil)
	_ rest.SingularNameProvider = (*nodeStorage)(nil)
)

func (*nodeStorage) New() runtime.Object     { return &metrics.NodeMetrics{} }
func (*nodeStorage) NewList() runtime.Object { return &metrics.NodeMetricsList{} }
func (*nodeStorage) Kind() string            { return "NodeMetrics" }
func (*nodeStorage) NamespaceScoped() bool   { return false }

// List answers with nodes by name and cluster.
func (s *nodeStorage) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if err := s.outsideOfAll(metrics.Resource("nodes"), ""); err != nil {
		return nil, err
	}
	items, err := s.list(ctx, s.usage.Nodes, options)
	if err != nil {
		return nil, err
	}
	if err := conversationOf(ctx).hold(len(items), bytesPerObject); err != nil {
		return nil, err
	}
	list := &metrics.NodeMetricsList{Items: make([]metrics.NodeMetrics, len(items))}
	for i, item := range items {
		item.node(&list.Items[i])
	}
	return list, nil
}

// Get answers with the node of that name, if only one cluster has it.
func (s *nodeStorage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if err := s.outsideOfAll(metrics.Resource("nodes"), name); err != nil {
		return nil, err
	}
	item, err := s.get(ctx, s.usage.Nodes, metrics.Resource("nodes"), name)
	if err != nil {
		return nil, err
	}
	node := &metrics.NodeMetrics{}
	item.node(node)
	return node, nil
}

func (f found) node(m *metrics.NodeMetrics) {
	f.Node(m, 1)
	f.mark(&m.ObjectMeta)
}
