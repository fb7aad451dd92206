// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// renew gets a new token, tries it, and writes it in place of the present one.
func (r *Renewer) renew(ctx context.Context, v *visit) (expires time.Time, err error) {
	member := newServer(v.cluster, r.Connections)
	if err := member.lets(ctx, v.held.Endpoint); err != nil {
		return time.Time{}, fmt.Errorf("the member does not accept the present token: %w", err)
	}
	token, err := member.issue(ctx, v.writer, v.present)
	if err != nil {
		return time.Time{}, fmt.Errorf("the member issues no token: %w", err)
	}
	if err := member.peer.Reading().Guard(func() error { return accept(v.present, token, r.Clock.Now()) }); err != nil {
		return time.Time{}, err
	}
	if err := member.lets(ctx, v.held.Endpoint.WithToken(token)); err != nil {
		return time.Time{}, fmt.Errorf("the member does not accept the token that it issued: %w", err)
	}
	kubeconfig, err := v.held.WithToken(token)
	if err != nil {
		return time.Time{}, err
	}
	stored := v.registered
	if v.beside != nil && v.beside.Namespace == v.held.Namespace {
		stored = v.beside
	}
	if err := r.Hub.Put(ctx, stored, v.held.Key, kubeconfig); err != nil {
		return time.Time{}, unwritten(err, stored.Namespace, stored.Name)
	}
	offered, _ := claimsOf(token)
	return offered.expires, nil
}

// errChanged: somebody else wrote the Secret meanwhile.
var errChanged = errors.New("the Secret was changed meanwhile")

// unwritten says in words of our own why a Secret could not be written: the hub's may repeat what is in it.
func unwritten(err error, namespace, name string) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errChanged
	}
	reason := apierrors.ReasonForError(err)
	if reason == "" {
		reason = "no answer"
	}
	return fmt.Errorf("the new token could not be written to Secret %s/%s (%s)", namespace, name, reason)
}

// failure says what went wrong, and what if that continues.
func failure(t tokenOf, err error) string {
	return fmt.Sprintf("the token that %ss expires at %s and could not be renewed, which is retried: %v",
		t.credential, t.present.expires.UTC().Format(time.RFC3339), err)
}
