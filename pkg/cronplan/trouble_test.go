// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestErrorsOfATarget(t *testing.T) {
	kind := schema.GroupResource{Group: "apps", Resource: "deployments"}
	tests := map[string]struct {
		got, want *Trouble
	}{
		"read: not there": {Unreadable(deployment, apierrors.NewNotFound(kind, "shop")),
			&Trouble{Reason: reasonNotFound, Message: `there is no Deployment "shop" in the namespace, or it cannot be scaled`}},
		"read: hub is down": {Unreadable(deployment, errors.New("no route")),
			&Trouble{Reason: reasonUnreachable, Message: `reading Deployment "shop": no route`}},
		"set: not there": {Unsettable(deployment, apierrors.NewNotFound(kind, "shop")),
			&Trouble{Reason: reasonNotFound, Message: `there is no Deployment "shop" in the namespace, or it cannot be scaled`}},
		"set: webhook down": {Unsettable(deployment, apierrors.NewInternalError(errors.New("failed calling webhook"))),
			&Trouble{Reason: reasonNotSet, Message: `setting Deployment "shop": Internal error occurred: failed calling webhook`}},
		"set: webhook said no": {Unsettable(deployment, apierrors.NewForbidden(kind, "shop", errors.New("no"))),
			&Trouble{Reason: reasonRefused, Message: `setting Deployment "shop": deployments.apps "shop" is forbidden: no`}},
	}
	for name, tc := range tests {
		fleettest.Same(t, name, tc.want, tc.got)
	}
}
