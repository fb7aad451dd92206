// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

	synced  atomic.Bool
	objects atomic.Pointer[objects] // nil while the API is not served
	trouble atomic.Pointer[string]  // why the hub could not tell whether it serves the API
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

// absence is the sign that there are no objects, and mark that all first ones of a namespace have been handed over.
func (s *source) absence() registration.Key { return s.key("") }

func (s *source) mark(namespace string) registration.Key { return s.key(namespace + "/") }

// isSign tells signs from objects, which have names.
func isSign(k registration.Key) bool { return k.Object == "" || strings.HasSuffix(k.Object, "/") }

// signed notes a sign, and returns whether nothing more is awaited.
func (s *source) signed(k registration.Key) bool {
	o := s.objects.Load()
	if namespace, isMark := strings.CutSuffix(k.Object, "/"); isMark && o != nil {
		o.mark(namespace)
	}
	if o != nil && !o.complete() {
		return false
	}
	s.synced.Store(true)
	return true
}

// complete is true while the API is served and all its objects were handed over.
func (s *source) complete() bool {
	o := s.objects.Load()
	return o != nil && o.complete()
}

// enoughAbsences in a row mean that the API has gone: an API server that starts
// may not know all its APIs for a moment, and the whole fleet would leave.
const enoughAbsences = 2

// run watches the objects. Unless their API is the core API it discovers that
// from time to time, forever: it may come and go.
func (s *source) run(ctx context.Context) {
	if s.watch.Resource.Group == corev1.GroupName {
		s.appear(ctx, s.watch.Resource.Version)
		return
	}
	absences := 0
	for {
		version, err := s.served(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			absences = 0 // in a row, or it may be chance
			text := err.Error()
			s.trouble.Store(&text)
		case version != "":
			absences = 0
			if o := s.objects.Load(); o == nil || o.version != version {
				klog.FromContext(ctx).Info("Started watching registrations", "source", s.Name(), "objects", s.watch.What, "version", version)
				s.appear(ctx, version)
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

// served returns the newest version in which the hub serves the API; empty if it does not.
func (s *source) served(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.of.options.Timeout)
	defer cancel()
	client := discovery.ToDiscoveryInterfaceWithContext(s.of.options.Hub.Discovery())
	for _, version := range append([]string{s.watch.Resource.Version}, s.watch.Older...) {
		asked := schema.GroupVersion{Group: s.watch.Resource.Group, Version: version}
		list, err := client.ServerResourcesForGroupVersionWithContext(ctx, asked.String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("discovering %s: %w", asked, err)
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == s.watch.Resource.Resource }) {
			return version, nil
		}
	}
	return "", nil
}

// appear begins to follow the objects in a version. They stay what they were in another one until they are read.
func (s *source) appear(ctx context.Context, version string) {
	now, before := s.newObjects(version), s.objects.Load()
	if before != nil {
		before.stop()
		now.inherit(before)
	}
	s.objects.Store(now) // first, or what it tells at once would be of nothing
	for _, f := range now.followers {
		f.start(ctx, &s.of.running)
	}
}

// disappear forgets the objects once their API has been absent often enough.
func (s *source) disappear(ctx context.Context, absences int) {
	objects := s.objects.Load()
	if objects == nil {
		s.of.queue.Add(s.absence())
		return
	}
	if absences < enoughAbsences {
		return
	}
	klog.FromContext(ctx).Info("Stopped watching registrations, which are no longer served", "source", s.Name(), "objects", s.watch.What)
	objects.stop()
	s.objects.Store(nil)
	for _, name := range objects.names() {
		s.of.queue.Add(s.key(name))
	}
	s.of.queue.Add(s.absence())
}

// registration returns what an object says at present; nil if there is none.
func (s *source) registration(ctx context.Context, name string) *registration.Registration {
	var object registration.Object
	if objects := s.objects.Load(); objects != nil {
		object = objects.get(name)
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
	keep := func(u *unstructured.Unstructured) map[string][]byte { return dataOf(u, ref.Keys) }
	f := newFollower(s.of.options.HubDynamic, secrets, ref.Name, keep, following{
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

// dataOf returns what a Secret holds under the keys; never nil. Other bytes of it are nobody's business.
func dataOf(u *unstructured.Unstructured, keys [2]string) map[string][]byte {
	kept := map[string][]byte{}
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &secret); err != nil {
		return kept
	}
	for _, key := range keys {
		if data, found := secret.Data[key]; found {
			kept[key] = data
		}
	}
	return kept
}

// awaited returns what the first objects wait for.
func (s *source) awaited() string {
	if objects := s.objects.Load(); objects != nil {
		return objects.why()
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
