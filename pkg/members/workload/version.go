// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// ReasonUnsupportedAutoscalers is of a cluster that serves HorizontalPodAutoscalers in no version that we can write.
const ReasonUnsupportedAutoscalers fleet.Reason = "UnsupportedAutoscalers"

// The versions in which HorizontalPodAutoscalers can be read and written, which differ in next to nothing. Kubernetes 1.23
// and later serve the first, up to 1.25 the second; server-side apply is from 1.16 on.
var (
	current = autoscalingv2.SchemeGroupVersion
	old     = schema.GroupVersion{Group: autoscalingv2.GroupName, Version: "v2beta2"}
)

const autoscalerKind, autoscalerResource = "HorizontalPodAutoscaler", "horizontalpodautoscalers"

// version is the one in which the cluster's HorizontalPodAutoscalers are read and written. The better is discovered each
// time, so that a cluster may come to serve it.
func (c memberCluster) version(ctx context.Context) (schema.GroupVersion, error) {
	for _, version := range []schema.GroupVersion{current, old} {
		_, err := c.mappings(ctx, version.WithKind(autoscalerKind).GroupKind(), version.Version)
		if !meta.IsNoMatchError(err) {
			return version, err
		}
	}
	return schema.GroupVersion{}, &fleet.Silence{Reason: ReasonUnsupportedAutoscalers,
		Detail: "the cluster serves neither " + current.String() + " nor " + old.String() + "; it needs Kubernetes 1.16 or later"}
}

// mappings returns what the cluster serves a kind as, in these versions or else in all, the preferred one first; if in none,
// that is an error.
func (c memberCluster) mappings(ctx context.Context, kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	if silence := c.Silence(); silence != nil {
		return nil, silence
	}
	if known := c.Mapper().Known(kind, versions...); known != nil {
		return known, nil
	}
	return within(ctx, func() ([]*meta.RESTMapping, error) { return c.Mapper().RESTMappings(kind, versions...) })
}

// within returns when f does, or when ctx ends. Mappers know no context: what they ask has its own deadlines.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

// autoscalersAt leads a request to the HorizontalPodAutoscalers of a namespace.
func autoscalersAt(request *rest.Request, version schema.GroupVersion, namespace string) *rest.Request {
	return connection.At(request, version.WithResource(autoscalerResource), namespace)
}
