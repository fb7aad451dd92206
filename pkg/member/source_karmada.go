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
	"k8s.io/client-go/dynamic"
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
			absences = 0 // in a row, or it may be chance
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
	klog.FromContext(ctx).Info("Karmada Clusters are followed")
	ctx, stop := context.WithCancel(ctx)
	f := newFollower("Karmada Clusters", askClusters(k.options.HubDynamic), following{
		changed: func(name string) { k.enqueue(key{fromKarmada, name}) },
		synced:  func() { k.enqueue(key{source: fromKarmada}) },
		failed:  func() {},
	})
	k.clusters.Store(&clusterWatch{follower: f, stop: stop}) // first, or what it tells at once would be of nothing
	f.start(ctx, k.running)
}

// disappear forgets the Clusters once the API has been absent often enough.
func (k *karmadaSource) disappear(ctx context.Context, absences int) {
	clusters := k.clusters.Load()
	if clusters == nil {
		k.enqueue(key{source: fromKarmada})
		return
	}
	if absences < enoughAbsences {
		return
	}
	klog.FromContext(ctx).Info("Karmada Clusters are not served any more")
	clusters.stop()
	k.clusters.Store(nil)
	for _, name := range clusters.shelf.names() {
		k.enqueue(key{fromKarmada, name})
	}
	k.enqueue(key{source: fromKarmada})
}

func (k *karmadaSource) registration(ctx context.Context, name string) (registration, bool) {
	clusters := k.clusters.Load()
	if clusters == nil {
		k.unfollow(name)
		return registration{}, false
	}
	object, found := clusters.shelf.get(name)
	cluster, ok := object.(*karmadaCluster)
	if !found || !ok {
		k.unfollow(name)
		return registration{}, false
	}
	return parseCluster(cluster, k.credentialsOf(ctx, cluster), k.options.Policy), true
}

func (k *karmadaSource) awaited() string {
	if clusters := k.clusters.Load(); clusters != nil {
		return clusters.why("Karmada's Clusters")
	}
	what := "the hub's word whether it serves Karmada's Clusters"
	if trouble := k.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, *trouble)
	}
	return what
}

// askClusters reads all Clusters.
func askClusters(hub dynamic.Interface) questions {
	clusters := hub.Resource(karmadaClusters)
	return questions{
		client: hub,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return clusters.List(ctx, o)
		},
		watch: clusters.Watch,
		keep:  slimCluster,
	}
}

// slimCluster keeps of a Cluster what we read: its status alone may be tens of
// kilobytes. One that cannot be read keeps its name, and is refused for the rest.
func slimCluster(object any) metav1.Object {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		panic(fmt.Sprintf("a dynamic list holds unstructured objects, not %T", object))
	}
	c := &karmadaCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
		c = &karmadaCluster{ObjectMeta: metav1.ObjectMeta{Name: u.GetName(), UID: u.GetUID()}}
	}
	c.ManagedFields = nil
	return c
}
