// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// outside is why nothing is answered about a namespace; nil if it is. Members are not asked: there we may have no rights.
func (a *Adapter) outside(of schema.GroupResource, namespace, name string) error {
	if a.scope.Has(namespace) {
		return nil
	}
	return apierrors.NewForbidden(of, name, errors.New(a.scope.Outside(namespace)))
}

// outsideOfAll is why nothing is answered about what has no namespace; nil if it is.
func (a *Adapter) outsideOfAll(of schema.GroupResource, name string) error {
	if a.scope.Everywhere() {
		return nil
	}
	return apierrors.NewForbidden(of, name, fmt.Errorf("fleetscale acts in %s only (%s), and %s have no namespace", a.scope,
		tenancy.NamespacesFlag, of.Resource))
}

// outsideOfSubject is why nothing is answered about an object with custom metrics; nil if it is.
func (a *Adapter) outsideOfSubject(s relay.Subject, of schema.GroupResource, name string) error {
	if s.Namespace() == "" {
		return a.outsideOfAll(of, name)
	}
	return a.outside(of, s.Namespace(), name)
}
