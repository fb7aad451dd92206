// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// source is one kind of registrations, and what the hub holds of it.
type source struct {
	registration.Source

	watch registration.Watch
	rank  int
	of    *Watcher

	synced atomic.Bool
	// complete is true while the API is served and all its objects were handed over.
	complete atomic.Bool
	objects  atomic.Pointer[follower[registration.Object]] // nil while the API is not served
	trouble  atomic.Pointer[string]                        // why the hub could not tell whether it serves the API
	// credentials by object. Only the one who hands registrations over comes here.
	credentials map[string]*credentialWatch
}

// credentialWatch follows the one Secret that an object refers to.
type credentialWatch struct {
	*follower[map[string][]byte]

	ref registration.Reference
}

func (s *source) key(object string) registration.Key {
	return registration.Key{Rank: s.rank, Source: s.Name(), Object: object}
}

// mark is the sign that all first objects have been handed over.
func (s *source) mark() registration.Key { return s.key("") }

// enoughAbsences in a row mean that the API has gone: an API server that starts
// may not know all its APIs for a moment, and the whole fleet would leave.
const enoughAbsences = 2

// run watches the objects. Unless their API is the core API it discovers that
// from time to time, forever: it may come and go.
func (s *source) run(ctx context.Context) {
	if s.watch.Resource.Group == corev1.GroupName {
		s.appear(ctx)
		return
	}
	absences := 0
	for {
		served, err := s.served(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			absences = 0 // in a row, or it may be chance
			text := err.Error()
			s.trouble.Store(&text)
		case served:
			absences = 0
			if s.objects.Load() == nil {
				klog.FromContext(ctx).Info("Started watching registrations", "source", s.Name(), "objects", s.watch.What)
				s.appear(ctx)
			}
		default:
			absences++
			s.disappear(ctx, absences)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Jitter(s.of.options.Period, 0.1)):
		}
	}
}

func (s *source) served(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.of.options.Timeout)
	defer cancel()
	client := discovery.ToDiscoveryInterfaceWithContext(s.of.options.Hub.Discovery())
	version := s.watch.Resource.GroupVersion()
	list, err := client.ServerResourcesForGroupVersionWithContext(ctx, version.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discovering %s: %w", version, err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == s.watch.Resource.Resource }), nil
}

// appear begins to follow the objects.
func (s *source) appear(ctx context.Context) {
	f := newFollower(s.of.options.HubDynamic, s.watch, "", s.Read, following{
		changed: func(object string) { s.of.queue.Add(s.key(object)) },
		synced:  func() { s.of.queue.Add(s.mark()) },
		failed:  func() {},
	})
	s.objects.Store(f) // first, or what it tells at once would be of nothing
	f.start(ctx, &s.of.running)
}

// disappear forgets the objects once their API has been absent often enough.
func (s *source) disappear(ctx context.Context, absences int) {
	objects := s.objects.Load()
	if objects == nil {
		s.of.queue.Add(s.mark())
		return
	}
	if absences < enoughAbsences {
		return
	}
	klog.FromContext(ctx).Info("Stopped watching registrations, which are no longer served", "source", s.Name(), "objects", s.watch.What)
	objects.stop()
	s.complete.Store(false)
	s.objects.Store(nil)
	for _, name := range objects.names() {
		s.of.queue.Add(s.key(name))
	}
	s.of.queue.Add(s.mark())
}

// registration returns what an object says at present; nil if there is none.
func (s *source) registration(ctx context.Context, name string) *registration.Registration {
	var object registration.Object
	if objects := s.objects.Load(); objects != nil {
		object, _ = objects.get(name)
	}
	if object == nil {
		s.unfollow(name)
		return nil
	}
	r := object.Register(s.credentialsOf(ctx, name, object.Credentials()))
	return &r
}

// credentialsOf returns what is known of the Secret that an object refers to. It is
// followed from now on, in place of another that the object referred to before.
func (s *source) credentialsOf(ctx context.Context, object string, ref registration.Reference) registration.Credentials {
	watch := s.credentials[object]
	if watch == nil || watch.ref != ref {
		s.unfollow(object)
		if ref == (registration.Reference{}) {
			return registration.Credentials{}
		}
		watch = s.follow(ctx, object, ref)
		s.credentials[object] = watch
	}
	if !watch.isSynced() {
		return registration.Credentials{Awaiting: watch.why(ref.String() + " could not be read yet")}
	}
	data, _ := watch.get(ref.Name)
	return registration.Credentials{Data: data}
}

func (s *source) follow(ctx context.Context, object string, ref registration.Reference) *credentialWatch {
	again := func() { s.of.queue.Add(s.key(object)) }
	secrets := registration.Watch{
		What: "credentials of a registration", Resource: corev1.SchemeGroupVersion.WithResource("secrets"), Namespace: ref.Namespace,
	}
	f := newFollower(s.of.options.HubDynamic, secrets, ref.Name, dataOf, following{
		changed: func(string) { again() }, synced: again, failed: again,
	})
	f.start(ctx, &s.of.running)
	return &credentialWatch{f, ref}
}

func (s *source) unfollow(object string) {
	if watch := s.credentials[object]; watch != nil {
		watch.stop()
		delete(s.credentials, object)
	}
}

// dataOf returns what a Secret holds; never nil.
func dataOf(u *unstructured.Unstructured) map[string][]byte {
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &secret); err != nil || secret.Data == nil {
		return map[string][]byte{}
	}
	return secret.Data
}

// awaited returns what the first objects wait for.
func (s *source) awaited() string {
	if objects := s.objects.Load(); objects != nil {
		return objects.why(s.watch.What)
	}
	if s.watch.Resource.Group == corev1.GroupName {
		return s.watch.What
	}
	what := "the hub's word whether it serves " + s.watch.What
	if trouble := s.trouble.Load(); trouble != nil {
		return fmt.Sprintf("%s (%s)", what, *trouble)
	}
	return what
}
