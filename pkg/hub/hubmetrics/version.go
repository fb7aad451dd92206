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

// customVersions are those that we can query.
var customVersions = []schema.GroupVersion{customv1beta2.SchemeGroupVersion, customv1beta1.SchemeGroupVersion}

const (
	// holdsFor is for how long a version is cached.
	holdsFor = time.Minute
	// failureHoldsFor is the same where none was found, or what was found is doubted.
	failureHoldsFor = 5 * time.Second
	// patience bounds one discovery, so that a hub that hangs does not delay every query.
	patience = 5 * time.Second
)

// version knows which version of custom.metrics.k8s.io the hub prefers. It
// runs one discovery at a time; meanwhile the last known version is used.
type version struct {
	discover    func(context.Context) (schema.GroupVersion, error)
	discovering chan struct{} // holds one during a discovery

	mu     sync.Mutex
	latest found
}

// found is the result of a discovery: a version, or why there is none.
type found struct {
	version schema.GroupVersion
	err     error
	at      time.Time // zero: there was no discovery yet
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

func newVersion(discover func(context.Context) (schema.GroupVersion, error)) *version {
	return &version{discover: discover, discovering: make(chan struct{}, 1)}
}

// preferred is the hub's preferred version, or its first that can be asked.
func (v *version) preferred(ctx context.Context) (schema.GroupVersion, error) {
	f := v.known()
	if f.holds() {
		return f.version, f.err
	}
	select {
	case v.discovering <- struct{}{}:
	default:
		if !f.version.Empty() {
			return f.version, nil
		}
		select {
		case v.discovering <- struct{}{}:
		case <-ctx.Done():
			return schema.GroupVersion{}, ctx.Err()
		}
	}
	defer func() { <-v.discovering }()
	if f := v.known(); f.holds() { // discovered meanwhile
		return f.version, f.err
	}
	return v.refresh(ctx)
}

func (v *version) known() found {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.latest
}

// refresh runs a discovery; if that fails, the last known version holds.
func (v *version) refresh(ctx context.Context) (schema.GroupVersion, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	version, err := v.discover(within)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err == nil || isNone(err):
		v.latest = found{version: version, err: err, at: time.Now()}
	case !v.latest.version.Empty():
		v.latest.at, v.latest.doubted = time.Now(), true
	case ctx.Err() == nil: // it was not this query's own deadline
		v.latest = found{err: err, at: time.Now()}
	default:
		return schema.GroupVersion{}, err
	}
	return v.latest.version, v.latest.err
}

// doubt makes the next discovery come soon if err means that the version is not served.
func (v *version) doubt(err error) {
	if !apierrors.IsNotFound(err) || !apierrors.IsUnexpectedServerError(err) {
		return // the API itself said it
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.latest.doubted = true
}

// none means that the hub serves no version that we can query.
type none struct{ error }

func isNone(err error) bool {
	var n none
	return errors.As(err, &n)
}

// discover reads from the hub which versions of custom.metrics.k8s.io it serves.
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
			return fmt.Errorf("reading the versions of %s: the answer is a %q, not an APIGroup", customv1beta2.GroupName, group.Kind)
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
