// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

const (
	// timeout bounds each list; a watch ends by itself.
	timeout = 30 * time.Second
	// membersPeriod is how often members are listed: ages and numbers of Pods are no events of a watch.
	membersPeriod = 5 * time.Second
	// page is how many objects are listed at once.
	page = 500
	// mostTold bounds, in characters, what is repeated of what the hub says.
	mostTold = 500
)

var errNotSeen = errors.New("it was not found among those that you may list")

// watcher reads the hub by the caller's rights.
type watcher struct {
	hub dynamic.Interface
	// namespace is listed where all may not be.
	namespace string
	seen      *seen
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	ctx = klog.NewContext(ctx, logr.Discard()) // the page says what is wrong
	var all sync.WaitGroup
	for _, k := range kinds {
		all.Go(func() { w.watch(ctx, k) })
	}
	all.Go(func() { w.followMembers(ctx) })
	all.Wait()
}

func (w *watcher) followMembers(ctx context.Context) {
	next := time.NewTicker(membersPeriod)
	defer next.Stop()
	for {
		if members, err := w.listMembers(ctx); err == nil {
			w.seen.setMembers(members)
		} else if ctx.Err() == nil {
			w.seen.trouble(aboutMembers, w.membersTrouble(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

func (w *watcher) listMembers(ctx context.Context) ([]member, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list, err := w.hub.Resource(membersv1alpha1.SchemeGroupVersion.WithResource("members")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := make([]member, 0, len(list.Items))
	for i := range list.Items {
		var m membersv1alpha1.Member
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &m); err != nil {
			return nil, fmt.Errorf("reading member %s: %w", list.Items[i].GetName(), err)
		}
		all = append(all, memberOf(&m))
	}
	return all, nil
}

func (w *watcher) membersTrouble(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "You may not list them; the ClusterRole fleetscale-members-reader has that right. " + told(err)
	case apierrors.IsNotFound(err):
		return "The hub does not serve members.fleetscale.io: is this the hub (--context)?"
	case apierrors.IsServiceUnavailable(err):
		return "Nobody serves members.fleetscale.io at present: is the metrics adapter running? What is shown is as it was. " + told(err)
	}
	return "They cannot be listed at present; what is shown is as it was. " + told(err)
}

func told(err error) string { return fleet.PrintableLine(err.Error(), mostTold) }

// watch keeps those of a kind up to date: in all namespaces, or in the caller's where only that is allowed.
func (w *watcher) watch(ctx context.Context, k kind) {
	source := &source{watcher: w, kind: k}
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: source.list, WatchFuncWithContext: source.watch,
	}, wholeLists{})
	cache.NewReflectorWithOptions(lw, &unstructured.Unstructured{}, source, cache.ReflectorOptions{
		Name: k.resource, Logger: new(logr.Discard()),
	}).RunWithContext(ctx)
}

// wholeLists has the reflector list, and not stream, what is there at first: who may not is then told so at once.
type wholeLists struct{}

// IsWatchListSemanticsUnSupported returns what client-go checks for.
func (wholeLists) IsWatchListSemanticsUnSupported() bool { return true }

// source lists and watches a kind, and keeps what comes of it. Its reflector calls it from one goroutine.
type source struct {
	*watcher
	kind kind
	// within is the namespace that is listed; empty: all.
	within string
	// refused is why not all namespaces are.
	refused string
}

func (s *source) resource() dynamic.ResourceInterface {
	of := s.hub.Resource(v1alpha1.SchemeGroupVersion.WithResource(s.kind.resource))
	if s.within == "" {
		return of
	}
	return of.Namespace(s.within)
}

func (s *source) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	o.Limit = page
	o.ResourceVersion, o.ResourceVersionMatch = "", "" // a server's memory ignores the limit
	list, err := s.page(ctx, o)
	if apierrors.IsForbidden(err) && s.within == "" && s.namespace != "" {
		s.within, s.refused = s.namespace, told(err)
		if list, err = s.page(ctx, o); err != nil {
			s.within = "" // and all namespaces are asked for the next time
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			s.seen.trouble(s.kind.plural(), s.trouble(err))
		}
		return nil, err
	}
	return s.decodedPage(list), nil
}

// decodedPage has the objects of a page decoded: as the hub sends them they take several times as much memory, and all pages of a list are
// held at one time. Those that nobody should decode stay as they are.
func (s *source) decodedPage(list *unstructured.UnstructuredList) *metainternalversion.List {
	all := &metainternalversion.List{
		ListMeta: metav1.ListMeta{ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue()},
		Items:    make([]runtime.Object, len(list.Items)),
	}
	for i := range list.Items {
		stored := &unstructured.Unstructured{Object: list.Items[i].Object} // which does not keep the page
		if decoded, err := s.decode(stored); err == nil {
			all.Items[i] = decoded
		} else {
			all.Items[i] = stored
		}
	}
	return all
}

func (s *source) page(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.resource().List(ctx, o)
}

func (s *source) trouble(err error) string {
	switch {
	case apierrors.IsForbidden(err) && s.namespace == "":
		return "You may not list them in all namespaces; those of one are at " + withinNamespace + "NAME/ of this address. " + told(err)
	case apierrors.IsForbidden(err):
		return "You may list them neither in all namespaces nor in " + s.namespace + ". " + told(err)
	case apierrors.IsNotFound(err):
		return "The hub does not know this kind."
	}
	return "They cannot be listed at present; what is shown is as it was. " + told(err)
}

func (s *source) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return s.resource().Watch(ctx, o)
}

// decode returns the object, unless nobody should decode it. It loses who has set which field, which is about half of it.
func (s *source) decode(stored *unstructured.Unstructured) (client.Object, error) {
	stored.SetManagedFields(nil)
	decoded := s.kind.empty()
	if err := guard.Unstructured(stored.Object, decoded); err != nil {
		return nil, err
	}
	return decoded, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, decoded)
}

// Add keeps what is new.
func (s *source) Add(object any) error {
	stored, is := object.(*unstructured.Unstructured)
	if !is {
		return fmt.Errorf("a watch has sent a %T", object)
	}
	decoded, err := s.decode(stored)
	if err != nil {
		s.seen.putUnreadable(s.kind, stored, err)
		return nil
	}
	s.seen.put(decoded)
	return nil
}

// Update keeps what is another.
func (s *source) Update(object any) error { return s.Add(object) }

// Delete forgets what is gone.
func (s *source) Delete(object any) error {
	if stored, is := object.(*unstructured.Unstructured); is {
		s.seen.remove(s.kind.id(stored.GetNamespace(), stored.GetName()))
	}
	return nil
}

// Replace keeps what a list has, and no others.
func (s *source) Replace(list []any, _ string) error {
	all := listed{objects: make([]client.Object, 0, len(list)), unreadable: map[metav1.Object]error{}, trouble: s.narrowed()}
	for _, object := range list {
		switch o := object.(type) {
		case *unstructured.Unstructured:
			_, all.unreadable[o] = s.decode(o)
		case client.Object:
			all.objects = append(all.objects, o)
		}
	}
	s.seen.replace(s.kind, all)
	return nil
}

// narrowed says that only one namespace is shown; empty: all are.
func (s *source) narrowed() string {
	if s.within == "" {
		return ""
	}
	return "Those of namespace " + s.within + " only: you may not list them in all. " + s.refused
}

// Resync has nothing to do.
func (s *source) Resync() error { return nil }
