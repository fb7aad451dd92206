// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// found is what one sync read from the hub.
type found struct {
	targets map[Target]*unstructured.Unstructured // those that exist and could be read
	unread  error                                 // of the others
	secret  *corev1.Secret
}

// round brings the Secret, what is served and the targets one step further.
func (k *Keeper) round(ctx context.Context) error {
	f, err := k.gather(ctx)
	if err != nil {
		return err
	}
	s, err := k.advance(ctx, f)
	if err != nil {
		return err
	}
	if err := k.serve(s); err != nil {
		return err
	}
	return k.injectAll(ctx, f, s)
}

// gather reads the targets before the Secret. They are written in the other
// order: so whoever reads a target that another replica has written reads what
// that replica knew, and whoever read it before that is refused when writing.
func (k *Keeper) gather(ctx context.Context) (found, error) {
	f := found{targets: map[Target]*unstructured.Unstructured{}}
	for _, t := range k.options.Targets {
		object, err := k.options.Dynamic.Resource(t.resource).Get(ctx, t.name, metav1.GetOptions{})
		switch {
		case err == nil:
			f.targets[t] = object
		case !apierrors.IsNotFound(err):
			f.unread = errors.Join(f.unread, fmt.Errorf("getting %s: %w", t, err))
		}
	}
	secret, err := k.options.Core.CoreV1().Secrets(k.secret().Namespace).Get(ctx, k.secret().Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return f, fmt.Errorf("getting Secret %s, which must exist, and may be empty: %w", k.secret(), err)
	}
	if err != nil {
		return f, fmt.Errorf("getting Secret %s: %w", k.secret(), err)
	}
	f.secret = secret
	return f, nil
}

// advance decides on the next step, and stores it before anybody acts on it.
func (k *Keeper) advance(ctx context.Context, f found) (state, error) {
	now := time.Now()
	s := read(f.secret.Data, k.host(), now)
	if s.serving == nil {
		s.serving = k.served(now) // somebody emptied the Secret, and clients of ours go on
	}
	bundle, err := s.bundle()
	if err != nil {
		return s, fmt.Errorf("reading Secret %s: %w", k.secret(), err)
	}
	everywhere := f.unread == nil && k.everywhere(f, bundle)
	settled := k.settled.saw(bundle, everywhere, now) >= k.options.SettleTime
	next := s.decide(now, k.options.Validity/3, settled)
	if s, err = s.take(next, k.issue); err != nil {
		return s, err
	}
	return s, k.store(ctx, f.secret, s, next)
}

func (k *Keeper) host() string { return hostOf(k.options.Service) }

func hostOf(service types.NamespacedName) string {
	return service.Name + "." + service.Namespace + ".svc"
}

func (k *Keeper) issue() (*pair, error) {
	if k.options.Mutual {
		return issueMutual(k.host(), k.options.Validity)
	}
	return issue(k.host(), k.options.Validity)
}

// everywhere reports whether no target lacks the bundle.
func (k *Keeper) everywhere(f found, bundle []byte) bool {
	for _, object := range f.targets {
		if lacks, err := inject(object.DeepCopy(), bundle, k.options.Service); lacks || err != nil {
			return false
		}
	}
	return true
}

// store writes what changed. The hub refuses it if the Secret changed since it was read.
func (k *Keeper) store(ctx context.Context, read *corev1.Secret, s state, done step) error {
	secret := read.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	changed, err := s.write(secret.Data)
	if err != nil {
		return fmt.Errorf("writing Secret %s: %w", k.secret(), err)
	}
	if !changed {
		return nil
	}
	if _, err := k.options.Core.CoreV1().Secrets(secret.Namespace).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating Secret %s: %w", k.secret(), err)
	}
	klog.FromContext(ctx).Info("Stored the serving certificate", "secret", k.secret(), "step", done, "expires", s.serving.notAfter())
	return nil
}

// injectAll writes every authority of s to the targets. One that fails does not
// block the others.
func (k *Keeper) injectAll(ctx context.Context, f found, s state) error {
	bundle, err := s.bundle()
	if err != nil {
		return fmt.Errorf("encoding the authorities: %w", err)
	}
	errs := []error{f.unread}
	for _, t := range k.options.Targets {
		object := f.targets[t]
		if object == nil {
			continue
		}
		changed, err := inject(object, bundle, k.options.Service)
		if err == nil && changed {
			_, err = k.options.Dynamic.Resource(t.resource).Update(ctx, object, metav1.UpdateOptions{})
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("writing the authorities into %s: %w", t, err))
		case changed:
			klog.FromContext(ctx).Info("Updated the caBundle by which the hub verifies us", "target", t.String())
		}
	}
	return errors.Join(errs...)
}
