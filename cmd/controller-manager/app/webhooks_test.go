// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Beside Karmada its webhooks are no trouble, and nobody is to be told to delete them.
func TestObserverDoesNotWatchWebhooks(t *testing.T) {
	o := NewOptions()
	o.Observing.Observe = true
	var untouched struct{ ctrl.Manager } // which panics when it is asked for anything
	if err := addWebhookWatch(untouched, nil, o); err != nil {
		t.Error(err)
	}
}
