// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// learning is what is known of which version a member serves. The line's lock guards it.
type learning struct {
	// latest is under way or ended; nil if nobody has asked yet. That there is
	// no such API is an error of it.
	latest *attempt[string]
	// doubted is true when something failed since.
	doubted bool
}

// learn gives the attempt that tells the version, other than outdated. A
// version holds until doubted; for a moment nothing is learned again.
func (l *line[T]) learn(outdated *attempt[string]) *attempt[string] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.version.latest; v != nil && v != outdated {
		if !v.ended() || v.fresh(l.board.o.KeepFor) || v.err == nil && !l.version.doubted {
			return v
		}
	}
	v := newAttempt[string]()
	if !l.start(func() { v.end(l.askVersion()) }) {
		return failed[string](left())
	}
	l.version = learning{latest: v}
	return v
}

// relearn gives an attempt that is not over yet.
func (l *line[T]) relearn() *attempt[string] {
	l.mu.Lock()
	latest := l.version.latest
	l.mu.Unlock()
	if latest != nil && !latest.ended() {
		return latest
	}
	return l.learn(latest)
}

func (l *line[T]) askVersion() (string, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.board.o.Timeout)
	defer cancel()
	var group metav1.APIGroup
	if err := l.read(ctx, &group, &group.Kind, "APIGroup", l.api.group); err != nil {
		return "", err
	}
	for _, version := range l.api.versions {
		if slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == version }) {
			return version, nil
		}
	}
	return "", l.api.absent()
}

// read reads a document of the member's discovery. One of another kind does
// not mean that there is nothing.
func (l *line[T]) read(ctx context.Context, into any, kind *string, want string, path ...string) error {
	prepare := func(r *rest.Request) *rest.Request {
		return r.AbsPath(append([]string{"apis"}, path...)...).SetHeader("Accept", "application/json")
	}
	return l.get(ctx, prepare, func(body []byte) error {
		_, err := connection.DecodeJSON(ctx, l.source.Reading(), body, into)
		switch {
		case err != nil:
			return badAnswer(err)
		case *kind != want:
			return badAnswer(fmt.Errorf("it is a %q, not a %s", *kind, want))
		}
		return nil
	})
}

// unrouted is true for a 404 in which the API has no part: nobody serves the path.
func unrouted(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err)
}
