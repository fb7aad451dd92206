// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// secretSource reads the labelled Secrets of one namespace, and sees no others.
type secretSource struct {
	options  Options
	enqueue  func(key)
	follower atomic.Pointer[follower] // nil until started
}

// start follows the Secrets until ctx ends.
func (s *secretSource) start(ctx context.Context, running *sync.WaitGroup) {
	q := askSecrets(s.options.Hub, s.options.Namespace, func(o *metav1.ListOptions) { o.LabelSelector = MemberLabel + "=true" })
	s.follower.Store(follow(ctx, running, "registration Secrets", q, following{
		changed: func(name string) { s.enqueue(key{fromSecret, name}) },
		synced:  func() { s.enqueue(key{source: fromSecret}) },
		failed:  func() {},
	}))
}

func (s *secretSource) registration(name string) (registration, bool) {
	object, found := s.follower.Load().shelf.get(name)
	secret, ok := object.(*corev1.Secret)
	if !found || !ok {
		return registration{}, false
	}
	return parseSecret(secret, s.options.Access, s.options.Policy), true
}

func (s *secretSource) awaited() string {
	what := fmt.Sprintf("the registration Secrets of namespace %s", s.options.Namespace)
	if f := s.follower.Load(); f != nil {
		return f.why(what)
	}
	return what
}

// askSecrets reads those Secrets of the namespace that narrow selects.
func askSecrets(hub kubernetes.Interface, namespace string, narrow func(*metav1.ListOptions)) questions {
	secrets := hub.CoreV1().Secrets(namespace)
	return questions{
		client: hub,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			narrow(&o)
			return secrets.List(ctx, o)
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			narrow(&o)
			return secrets.Watch(ctx, o)
		},
		keep: func(object any) metav1.Object {
			secret, ok := object.(*corev1.Secret)
			if !ok {
				panic(fmt.Sprintf("a list of Secrets holds Secrets, not %T", object))
			}
			secret.ManagedFields = nil
			delete(secret.Annotations, corev1.LastAppliedConfigAnnotation) // another copy of all that is in it
			return secret
		},
	}
}
