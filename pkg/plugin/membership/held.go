// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// held is a credential of a registration, and the Secret that it is in.
type held struct {
	registration.Held

	in *corev1.Secret
}

// held are the credentials of a registration as the hub's programs use them, by the accounts that they are of.
func (h *Hub) held(s sight) (map[string]held, error) {
	options := registration.Options{Namespace: h.places.Registrations, WriteNamespace: h.places.Writers, Access: registration.Read}
	all := map[string]held{}
	read, faults := registration.HeldIn(options, s.registered, nil)
	all[reader] = held{read, s.registered}
	if s.beside != nil && len(faults) == 0 {
		options.Access = registration.Write
		var written registration.Held
		written, faults = registration.HeldIn(options, s.registered, s.beside)
		all[writer] = held{written, s.beside}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("the hub's Secret %s/%s: %s; join the cluster again", s.registered.Namespace, s.registered.Name, faults[0].Message)
	}
	for _, one := range all {
		if _, err := one.withToken(redacted); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// withToken is what of the Secret changes with another token of its kubeconfig.
func (h held) withToken(token string) (*corev1.Secret, error) {
	kubeconfig, err := h.WithToken(token)
	if err != nil {
		return nil, fmt.Errorf("the hub's Secret %s/%s: %w", h.in.Namespace, h.in.Name, err)
	}
	next := secret(h.in.Namespace, h.in.Name, nil)
	next.UID, next.ResourceVersion = h.in.UID, h.in.ResourceVersion
	next.Data = map[string][]byte{h.Key: kubeconfig}
	return next, nil
}

// leadsTo is nil if all of these credentials are sent to this cluster and to no other: to the address by which the person reaches
// it, or which the person gave, verified by the cluster's authority. A Secret may say anything of itself; who writes it must not get
// tokens by that.
func (c *cluster) leadsTo(ctx context.Context, server string, all map[string]held) error {
	w, err := c.wayToBe(ctx, server)
	if err != nil {
		return err
	}
	kubeconfig, err := w.kubeconfig(reader, redacted)
	if err != nil {
		return err
	}
	used, faults := registration.HeldIn(registration.Options{Access: registration.Read}, secret("", "", kubeconfig), nil)
	if len(faults) > 0 {
		return fmt.Errorf("context %q: %s", c.context, faults[0].Message)
	}
	var errs []error
	for _, one := range all {
		if !one.Endpoint.SameServer(used.Endpoint) {
			errs = append(errs, fmt.Errorf("the hub's Secret %s/%s does not lead to %s, or verifies it by another authority than context %q; "+
				"nothing was changed: give the address at which the hub reaches the cluster with --server, or join the cluster again",
				one.in.Namespace, one.in.Name, w.server, c.context))
		}
	}
	return errors.Join(errs...)
}
