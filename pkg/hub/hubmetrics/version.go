// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
)

// customVersions are those that can be asked.
var customVersions = []schema.GroupVersion{customv1beta2.SchemeGroupVersion, customv1beta1.SchemeGroupVersion}

const (
	// holdsFor is for how long a version is not looked for again.
	holdsFor = time.Minute
	// failureHoldsFor is the same where none was found, or what was found is doubted.
	failureHoldsFor = 5 * time.Second
	// patience bounds one look, so that a hub that hangs is not waited for at every question's expense.
	patience = 5 * time.Second
)

// version knows which version of custom.metrics.k8s.io the hub prefers. It
// looks at most once at a time; meanwhile the version known before is used.
type version struct {
	look    func(context.Context) (schema.GroupVersion, error)
	looking chan struct{} // holds one while somebody looks

	mu     sync.Mutex
	latest found
}

// found is what a look brought: a version, or why there is none.
type found struct {
	version schema.GroupVersion
	err     error
	at      time.Time // zero: nobody has looked
	doubted bool
}

func (f *found) holds() bool {
	switch {
	case f.at.IsZero():
		return false
	case f.err != nil || f.doubted:
		return time.Since(f.at) < failureHoldsFor
	default:
		return time.Since(f.at) < holdsFor
	}
}

func newVersion(look func(context.Context) (schema.GroupVersion, error)) *version {
	return &version{look: look, looking: make(chan struct{}, 1)}
}

// preferred is the hub's preferred version, or its first that can be asked.
func (v *version) preferred(ctx context.Context) (schema.GroupVersion, error) {
	f := v.known()
	if f.holds() {
		return f.version, f.err
	}
	select {
	case v.looking <- struct{}{}:
	default:
		if !f.version.Empty() {
			return f.version, nil
		}
		select {
		case v.looking <- struct{}{}:
		case <-ctx.Done():
			return schema.GroupVersion{}, ctx.Err()
		}
	}
	defer func() { <-v.looking }()
	if f := v.known(); f.holds() { // somebody has looked meanwhile
		return f.version, f.err
	}
	return v.lookAgain(ctx)
}

func (v *version) known() found {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.latest
}

// lookAgain looks; while the hub does not say, what it said before holds.
func (v *version) lookAgain(ctx context.Context) (schema.GroupVersion, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	version, err := v.look(within)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err == nil || isNone(err):
		v.latest = found{version: version, err: err, at: time.Now()}
	case !v.latest.version.Empty():
		v.latest.at, v.latest.doubted = time.Now(), true
	case ctx.Err() == nil: // it was not this question's own end
		v.latest = found{err: err, at: time.Now()}
	default:
		return schema.GroupVersion{}, err
	}
	return v.latest.version, v.latest.err
}

// doubt has the version looked for soon if err says that nobody serves it.
func (v *version) doubt(err error) {
	if !apierrors.IsNotFound(err) || !apierrors.IsUnexpectedServerError(err) {
		return // the API itself said it
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.latest.doubted = true
}

// none is the hub's word that there is no version to ask.
type none struct{ error }

func isNone(err error) bool {
	var n none
	return errors.As(err, &n)
}

// discover asks the hub which versions of custom.metrics.k8s.io it serves.
func (c *Client) discover(ctx context.Context) (schema.GroupVersion, error) {
	group := metav1.APIGroup{}
	request := c.custom[customv1beta2.SchemeGroupVersion].Get().AbsPath("/apis", customv1beta2.GroupName).SetHeader("Accept",
		runtime.ContentTypeJSON)
	_, err := c.exchange(ctx, apiDiscovery, request, func(r rest.Result) error {
		body, _ := r.Raw()
		if err := json.Unmarshal(body, &group); err != nil {
			return fmt.Errorf("reading the versions of %s: %w", customv1beta2.GroupName, err)
		}
		if group.Kind != "APIGroup" {
			return fmt.Errorf("reading the versions of %s: the answer is a %q and no APIGroup", customv1beta2.GroupName, group.Kind)
		}
		return nil
	})
	switch {
	case apierrors.IsNotFound(err):
		return schema.GroupVersion{}, none{fmt.Errorf("no custom metrics API (%s) registered", customv1beta2.GroupName)}
	case err != nil:
		return schema.GroupVersion{}, err
	default:
		return choose(&group)
	}
}

func choose(group *metav1.APIGroup) (schema.GroupVersion, error) {
	for _, served := range append([]metav1.GroupVersionForDiscovery{group.PreferredVersion}, group.Versions...) {
		for _, version := range customVersions {
			if served.GroupVersion == version.String() {
				return version, nil
			}
		}
	}
	return schema.GroupVersion{}, none{errors.New("no known available metric versions found")}
}
