// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

// ofFederatedHPA returns what bears on f: autoscalers of its workload, and the rules
// that set its bounds.
func ofFederatedHPA(ctx context.Context, hub client.Reader, namespace string, f *v1alpha1.FederatedHPA) (admission.Neighbours, error) {
	return aroundBounds(ctx, hub, namespace, f.Spec.ScaleTargetRef.Name, f.Name)
}

// aroundBounds returns autoscalers of a workload, and the rules that set the bounds
// of the one with this name.
func aroundBounds(ctx context.Context, hub client.Reader, namespace, workload, name string) (admission.Neighbours, error) {
	known, err := around(ctx, hub, namespace, workload)
	if err != nil || name == workload {
		return known, err
	}
	var rules v1alpha1.CronFederatedHPAList
	err = find(ctx, hub, &rules, namespace, name)
	known.CronFederatedHPAs = append(known.CronFederatedHPAs, pointers(rules.Items)...)
	return known, err
}

// ofCronFederatedHPA returns what bears on c: autoscalers of its target, and the
// target itself if that is an autoscaler.
func ofCronFederatedHPA(ctx context.Context, hub client.Reader, namespace string, c *v1alpha1.CronFederatedHPA) (admission.Neighbours,
	error) {
	return around(ctx, hub, namespace, c.Spec.ScaleTargetRef.Name)
}

// ofMultidimPodAutoscaler is what bears on m: autoscalers of its workload, the rules
// that set its bounds, and a FederatedHPA of its name.
func ofMultidimPodAutoscaler(ctx context.Context, hub client.Reader, namespace string,
	m *v1alpha1.MultidimPodAutoscaler) (admission.Neighbours, error) {
	target := m.Spec.ScaleTargetRef.Name
	known, err := aroundBounds(ctx, hub, namespace, target, m.Name)
	if err != nil {
		return known, err
	}
	var named v1alpha1.FederatedHPAList
	if err := find(ctx, hub, &named, namespace, m.Name); err != nil {
		return known, err
	}
	for _, f := range pointers(named.Items) {
		if f.Name == m.Name && f.Spec.ScaleTargetRef.Name != target && m.Name != target {
			known.FederatedHPAs = append(known.FederatedHPAs, f) // not found by its workload, nor by the workload's name
		}
	}
	return known, nil
}

func around(ctx context.Context, hub client.Reader, namespace, name string) (admission.Neighbours, error) {
	var federated v1alpha1.FederatedHPAList
	var crons v1alpha1.CronFederatedHPAList
	var multidim v1alpha1.MultidimPodAutoscalerList
	var hpas autoscalingv2.HorizontalPodAutoscalerList
	for _, list := range []client.ObjectList{&federated, &crons, &multidim, &hpas} {
		if err := find(ctx, hub, list, namespace, name); err != nil {
			return admission.Neighbours{}, err
		}
	}
	return admission.Neighbours{
		FederatedHPAs: pointers(federated.Items), CronFederatedHPAs: pointers(crons.Items),
		MultidimPodAutoscalers: pointers(multidim.Items), HPAs: pointers(hpas.Items),
	}, nil
}

func find(ctx context.Context, hub client.Reader, list client.ObjectList, namespace, name string) error {
	if err := hub.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index.ByName: name}); err != nil {
		return fmt.Errorf("listing other autoscalers of %q in namespace %s: %w", name, namespace, err)
	}
	return nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, 0, len(items))
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}
