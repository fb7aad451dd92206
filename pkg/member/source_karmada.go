// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/klog/v2"
)

// karmadaSource reads Karmada's Clusters while the hub serves them, and the
// Secrets that they refer to, each by its name.
type karmadaSource struct {
	options Options
	enqueue func(key)
	running *sync.WaitGroup

	clusters atomic.Pointer[clusterWatch] // nil while the API is not served
	trouble  atomic.Pointer[string]       // why the hub could not say whether it serves the API
	// credentials by Cluster. Only the registry's one reader of registrations comes here.
	credentials map[string]*credentialWatch
}

type clusterWatch struct {
	*follower

	stop context.CancelFunc
}

// enoughAbsences in a row mean that the API has gone: an API server that starts
// may not know all its APIs for a moment, and the whole fleet would leave.
const enoughAbsences = 2

// run looks for the API from time to time, for ever: it may come and go.
func (k *karmadaSource) run(ctx context.Context) {
	absences := 0
	for {
		served, err := k.served(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			text := err.Error()
			k.trouble.Store(&text)
		case served:
			absences = 0
			k.appear(ctx)
		default:
			absences++
			k.disappear(ctx, absences)
		}
		if !sleep(ctx, health{}.wait(k.options.DiscoveryPeriod)) {
			return
		}
	}
}

func (k *karmadaSource) served(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, k.options.Timeout)
	defer cancel()
	client := discovery.ToDiscoveryInterfaceWithContext(k.options.Hub.Discovery())
	list, err := client.ServerResourcesForGroupVersionWithContext(ctx, karmadaClusters.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discovering %s: %w", karmadaClusters.GroupVersion(), err)
	}
	for _, resource := range list.APIResources {
		if resource.Name == karmadaClusters.Resource {
			return true, nil
		}
	}
	return false, nil
}

// appear begins to follow the Clusters, unless it does.
func (k *karmadaSource) appear(ctx context.Context) {
	if k.clusters.Load() != nil {
		return
	}
	logger := klog.FromContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	informer := dynamicinformer.NewFilteredDynamicInformer(k.options.HubDynamic, karmadaClusters, metav1.NamespaceAll, 0, nil, nil).Informer()
	err := informer.SetTransform(slimCluster)
	var f *follower
	if err == nil {
		f, err = follow(ctx, k.running, informer, following{
			changed: func(name string) { k.enqueue(key{fromKarmada, name}) },
			synced:  func() { k.enqueue(key{source: fromKarmada}) },
			failed:  func() {},
		})
	}
	if err != nil {
		stop()
		logger.Error(err, "Karmada Clusters cannot be followed")
		return
	}
	k.clusters.Store(&clusterWatch{follower: f, stop: stop})
	logger.Info("Karmada Clusters are followed")
}

// disappear forgets the Clusters once the API has been absent often enough.
func (k *karmadaSource) disappear(ctx context.Context, absences int) {
	watch := k.clusters.Load()
	if watch == nil {
		k.enqueue(key{source: fromKarmada})
		return
	}
	if absences < enoughAbsences {
		return
	}
	klog.FromContext(ctx).Info("Karmada Clusters are not served any more")
	watch.stop()
	k.clusters.Store(nil)
	for _, object := range watch.informer.GetStore().List() {
		if c, ok := object.(*karmadaCluster); ok {
			k.enqueue(key{fromKarmada, c.Name})
		}
	}
	k.enqueue(key{source: fromKarmada})
}

func (k *karmadaSource) registration(ctx context.Context, name string) (registration, bool) {
	watch := k.clusters.Load()
	if watch == nil {
		k.unfollow(name)
		return registration{}, false
	}
	object, found := watch.get(name)
	cluster, ok := object.(*karmadaCluster)
	if !found || !ok {
		k.unfollow(name)
		return registration{}, false
	}
	return parseCluster(cluster, k.credentialsOf(ctx, cluster), k.options.Policy), true
}

func (k *karmadaSource) awaited() string {
	if watch := k.clusters.Load(); watch != nil {
		return watch.why("Karmada's Clusters")
	}
	what := "the hub's word whether it serves Karmada's Clusters"
	if trouble := k.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, *trouble)
	}
	return what
}

// slimCluster keeps of a Cluster what we read: its status alone may be tens of
// kilobytes. One that cannot be read keeps its name, and is refused for the rest.
func slimCluster(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	c := &karmadaCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
		c = &karmadaCluster{ObjectMeta: metav1.ObjectMeta{Name: u.GetName(), UID: u.GetUID()}}
	}
	c.ManagedFields = nil
	return c, nil
}
