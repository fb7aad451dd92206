// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// AddToScheme makes scheme know the kinds that the webhooks read.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	return autoscalingv2.AddToScheme(scheme)
}

// watched are the kinds that the webhooks read.
func watched() []client.Object {
	return []client.Object{&v1alpha1.FederatedHPA{}, &v1alpha1.CronFederatedHPA{}, &autoscalingv2.HorizontalPodAutoscaler{}}
}

// Watch has the cache know what the webhooks read, by the fields that they look
// for; it must be called before the cache starts. synced says whether the hub
// has told all. It is an error if the hub does not serve a kind.
func Watch(ctx context.Context, hub cache.Cache) (synced func() bool, err error) {
	var informers []cache.Informer
	for _, object := range watched() {
		if err := hub.IndexField(ctx, object, byName, names); err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
		informer, err := hub.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
		informers = append(informers, informer)
	}
	return func() bool {
		for _, informer := range informers {
			if !informer.HasSynced() {
				return false
			}
		}
		return true
	}, nil
}

// Trim leaves out, before the cache keeps it, what no rule reads and what is
// most of an object.
func Trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
	}
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		o.Status = v1alpha1.FederatedHPAStatus{}
	case *v1alpha1.CronFederatedHPA:
		o.Status = v1alpha1.CronFederatedHPAStatus{}
	case *autoscalingv2.HorizontalPodAutoscaler:
		o.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
	}
	return object, nil
}
