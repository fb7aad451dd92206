// SPDX-License-Identifier: Apache-2.0

// Package index keeps the autoscalers of the hub by the name of what they scale, once for a process. So a question costs as
// little in a large namespace as in a small one. Controllers and webhook ask it.
package index

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
)

// ByName is the field that it is asked by.
const ByName = "names"

// Kinds returns those that may have a claim on a workload.
func Kinds() []client.Object {
	return []client.Object{
		&v1alpha1.FederatedHPA{}, &v1alpha1.CronFederatedHPA{}, &v1alpha1.MultidimPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{},
	}
}

// Names returns what an autoscaler is found by: the name of what it scales; one whose bounds rules may set, by its own name too.
func Names(object client.Object) []string {
	names := []string{claims.Of(object).Target.Name}
	switch object.(type) {
	case *v1alpha1.FederatedHPA, *v1alpha1.MultidimPodAutoscaler:
		names = append(names, object.GetName())
	}
	return slices.Compact(names)
}

// Watch makes the cache keep all Kinds, by their Names; it must be called once, before the cache starts. synced reports whether
// the hub has told all. It is an error if the hub does not serve a kind.
func Watch(ctx context.Context, hub cache.Cache) (synced func() bool, err error) {
	var informers []cache.Informer
	for _, kind := range Kinds() {
		if err := hub.IndexField(ctx, kind, ByName, Names); err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		informer, err := hub.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		informers = append(informers, informer)
	}
	return func() bool {
		return !slices.ContainsFunc(informers, func(i cache.Informer) bool { return !i.HasSynced() })
	}, nil
}
