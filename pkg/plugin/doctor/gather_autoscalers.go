// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// ofAutoscalers are the readings of autoscalers on the hub, where the programs act.
func (g *gatherer) ofAutoscalers(p *Picture) []reading {
	ours, hpas := v1alpha1.SchemeGroupVersion, autoscalingv2.SchemeGroupVersion
	var mu sync.Mutex // of p.Unreadable
	unreadable := func(found Unreadable) {
		mu.Lock()
		defer mu.Unlock()
		p.Unreadable = append(p.Unreadable, found)
	}
	return []reading{
		{"FederatedHPAs", func(ctx context.Context) {
			p.Federated = list[v1alpha1.FederatedHPA](ctx, g, ours.WithResource("federatedhpas"), p.Scope,
				unreadableOf(v1alpha1.FederatedHPAKind, unreadable))
		}},
		{"CronFederatedHPAs", func(ctx context.Context) {
			p.Cron = list[v1alpha1.CronFederatedHPA](ctx, g, ours.WithResource("cronfederatedhpas"), p.Scope,
				unreadableOf(v1alpha1.CronFederatedHPAKind, unreadable))
		}},
		{"MultidimPodAutoscalers", func(ctx context.Context) {
			p.Multidim = list[v1alpha1.MultidimPodAutoscaler](ctx, g, ours.WithResource("multidimpodautoscalers"), p.Scope,
				unreadableOf(v1alpha1.MultidimPodAutoscalerKind, unreadable))
		}},
		{"HorizontalPodAutoscalers", func(ctx context.Context) {
			p.Local = list[autoscalingv2.HorizontalPodAutoscaler](ctx, g, hpas.WithResource("horizontalpodautoscalers"), p.Scope,
				unreadableOf("HorizontalPodAutoscaler", unreadable))
		}},
		{"Events", func(ctx context.Context) {
			p.LeftBehind = ask(ctx, g, "list events", func(ctx context.Context) ([]corev1.Event, error) {
				found, err := g.typed.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "reason=LeftBehind"})
				if err != nil {
					return nil, err
				}
				return found.Items, nil
			})
		}},
	}
}

// unreadableOf notes those of a kind.
func unreadableOf(kind string, note func(Unreadable)) func(metav1.ObjectMeta, error) {
	return func(meta metav1.ObjectMeta, why error) {
		note(Unreadable{Kind: kind, Namespace: meta.Namespace, Name: meta.Name, Why: why.Error()})
	}
}

// list reads all objects of a resource, of some namespaces or of all. None are of a resource that the hub does not serve. Those that
// should not be decoded are not.
func list[T any](ctx context.Context, g *gatherer, of schema.GroupVersionResource, namespaces []string,
	unreadable func(metav1.ObjectMeta, error)) Read[[]*T] {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var all Read[[]*T]
	for _, namespace := range namespaces {
		path, needs := "/apis/"+of.GroupVersion().String(), fmt.Sprintf("list %s.%s", of.Resource, of.Group)
		if namespace != "" {
			path, needs = path+"/namespaces/"+namespace, needs+" in "+namespace
		}
		part := ask(ctx, g, needs, func(ctx context.Context) ([]*T, error) {
			found, err := plugin.Objects[T](ctx, g.typed.Discovery().RESTClient(), path+"/"+of.Resource, unreadable)
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return found, err
		})
		all.Value = append(all.Value, part.Value...)
		if part.Unknown != "" {
			all.Unknown = part.Unknown
		}
	}
	return all
}
