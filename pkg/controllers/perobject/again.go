// SPDX-License-Identifier: Apache-2.0

package perobject

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Soon is the delay of the next reconcile where something is awaited, or another was faster.
const Soon = time.Second

// Again requeues after one period, but soon where the object was changed meanwhile.
func Again(err error, period time.Duration) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: Soon}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: period}, nil
}
