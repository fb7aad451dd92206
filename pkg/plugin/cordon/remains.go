// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Remainder is what a FederatedHPA still has in a drained cluster.
type Remainder struct {
	Namespace, Name string
	Replicas        int32
	// Waits is what becomes of it, and on what that waits.
	Waits string
}

// Remains returns what FederatedHPAs still have in a cluster that is drained, by their statuses.
func Remains(all []v1alpha1.FederatedHPA, cluster string) []Remainder {
	var left []Remainder
	for i := range all {
		f := &all[i]
		for j := range f.Status.Clusters {
			c := &f.Status.Clusters[j]
			replicas := max(ptr.Deref(c.CurrentReplicas, 0), ptr.Deref(c.ReadyReplicas, 0))
			if c.Name == cluster && (replicas > 0 || ptr.Deref(c.AssignedMax, 0) > 0) {
				left = append(left, Remainder{f.Namespace, f.Name, replicas, waits(f, c)})
			}
		}
	}
	return left
}

func waits(f *v1alpha1.FederatedHPA, c *v1alpha1.ClusterStatus) string {
	drain := corev1.Taint{Key: taints.DrainAnnotation, Value: taints.Yes, Effect: corev1.TaintEffectNoExecute}
	switch {
	case taints.Judge([]corev1.Taint{drain}, f.Spec.ClusterTolerations).Standing != taints.Drained:
		return "stays: its spec.clusterTolerations tolerate the drain"
	case f.Spec.Mode == v1alpha1.ModePaused, f.Spec.Mode == v1alpha1.ModeObserve:
		return fmt.Sprintf("stays: its mode is %s", f.Spec.Mode)
	case c.State == v1alpha1.ClusterUnreachable:
		return "the others take over at once; nobody waits for a cluster that is silent"
	case f.Spec.FederatedHPAAssignment != nil:
		return "goes to zero once the others run the fleet's minimum"
	case f.Spec.ReplicaDistribution != nil:
		return "goes to the others at once, as far as they have room"
	}
	return "stays until what places the workload, such as Karmada, moves it"
}

// Autoscalers are all FederatedHPAs of the hub.
func (h Hub) Autoscalers(ctx context.Context) ([]v1alpha1.FederatedHPA, error) {
	resource := h.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas"))
	var all []v1alpha1.FederatedHPA
	for o := (metav1.ListOptions{Limit: 500}); ; {
		list, err := resource.List(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("listing FederatedHPAs: %w", err)
		}
		for i := range list.Items {
			var f v1alpha1.FederatedHPA
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &f); err != nil {
				return nil, fmt.Errorf("reading FederatedHPA %s/%s: %w", list.Items[i].GetNamespace(), list.Items[i].GetName(), err)
			}
			all = append(all, f)
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return all, nil
		}
	}
}

// Table is what remains, for people.
func Table(left []Remainder) *metav1.Table {
	table := &metav1.Table{}
	for _, name := range []string{"Namespace", "FederatedHPA", "Replicas", "Then"} {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	for _, r := range left {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{r.Namespace, r.Name, r.Replicas, r.Waits}})
	}
	return table
}
