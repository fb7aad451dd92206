// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// secretSource reads the labelled Secrets of one namespace, and sees no others.
type secretSource struct {
	options  Options
	enqueue  func(key)
	follower atomic.Pointer[follower] // nil until started
}

// start follows the Secrets until ctx ends.
func (s *secretSource) start(ctx context.Context, running *sync.WaitGroup) error {
	informer, err := secretInformer(s.options.Hub, s.options.Namespace, func(o *metav1.ListOptions) {
		o.LabelSelector = MemberLabel + "=true"
	})
	if err != nil {
		return err
	}
	f, err := follow(ctx, running, informer, following{
		changed: func(name string) { s.enqueue(key{fromSecret, name}) },
		synced:  func() { s.enqueue(key{source: fromSecret}) },
		failed:  func() {},
	})
	if err != nil {
		return err
	}
	s.follower.Store(f)
	return nil
}

func (s *secretSource) registration(name string) (registration, bool) {
	f := s.follower.Load()
	if f == nil {
		return registration{}, false // started a moment ago; the sign that led here will not be the last
	}
	object, found := f.get(s.options.Namespace + "/" + name)
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

// secretInformer sees those Secrets of the namespace that narrow selects.
func secretInformer(hub kubernetes.Interface, namespace string, narrow func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
	informer := coreinformers.NewFilteredSecretInformer(hub, namespace, 0, nil, narrow)
	if err := informer.SetTransform(withoutManagedFields); err != nil {
		return nil, fmt.Errorf("setting the transform: %w", err)
	}
	return informer, nil
}
