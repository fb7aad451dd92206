// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hubIdentity is the uid of the hub's namespace kube-system, once it was read.
type hubIdentity struct{ uid atomic.Pointer[string] }

// addHubIdentity has the identity read, however long the hub does not answer.
func addHubIdentity(manager ctrl.Manager) (*hubIdentity, error) {
	h := &hubIdentity{}
	return h, manager.Add(everywhere(func(ctx context.Context) error {
		const retry = time.Second
		_ = wait.PollUntilContextCancel(ctx, retry, true, func(ctx context.Context) (bool, error) {
			system := &metav1.PartialObjectMetadata{}
			system.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
			if err := manager.GetAPIReader().Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
				klog.FromContext(ctx).V(2).Info("Could not read the identity of the hub", "err", err)
				return false, nil
			}
			uid := string(system.UID)
			h.uid.Store(&uid)
			return true, nil
		})
		return nil
	}))
}

// get is empty until it is known.
func (h *hubIdentity) get() string {
	if uid := h.uid.Load(); uid != nil {
		return *uid
	}
	return ""
}

// known is why it is not; nil: it is.
func (h *hubIdentity) known() error {
	if h.get() == "" {
		return errors.New("the identity of the hub has not been read yet")
	}
	return nil
}
