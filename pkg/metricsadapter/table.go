// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// storage is what pods and nodes have in common.
type storage struct{ *Adapter }

// Destroy implements [rest.Storage]: there is nothing to end.
func (storage) Destroy() {}

// GetSingularName is empty, as metrics-server's: kubectl then knows the
// resource by its kind, and pods and nodes stay the names of the core resources.
func (storage) GetSingularName() string { return "" }

// ConvertToTable makes what kubectl get prints.
func (storage) ConvertToTable(_ context.Context, object runtime.Object, options runtime.Object) (*metav1.Table, error) {
	t := newTable(options)
	switch m := object.(type) {
	case *metrics.NodeMetricsList:
		for i := range m.Items {
			t.addNode(&m.Items[i])
		}
	case *metrics.NodeMetrics:
		t.addNode(m)
	case *metrics.PodMetricsList:
		for i := range m.Items {
			t.addPod(&m.Items[i])
		}
	case *metrics.PodMetrics:
		t.addPod(m)
	}
	return &t.Table, nil
}

// table is the form for people. Its columns are always the same, whatever the
// items hold, so that two outputs can be compared.
type table struct {
	metav1.Table
}

func newTable(options runtime.Object) *table {
	t := &table{}
	if o, ok := options.(*metav1.TableOptions); ok && o.NoHeaders {
		return t
	}
	t.ColumnDefinitions = []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the pod or node."},
		{Name: "Cluster", Type: "string", Description: "Member cluster that it runs in."},
		{Name: "CPU", Type: "string", Format: "quantity", Description: "CPU in use, of all containers together."},
		{Name: "Memory", Type: "string", Format: "quantity", Description: "Memory in use (working set), of all containers together."},
		{Name: "Window", Type: "string", Format: "duration", Description: "Time over which CPU was measured."},
	}
	return t
}

func (t *table) addPod(m *metrics.PodMetrics) {
	var cpu, memory resource.Quantity
	for _, c := range m.Containers {
		cpu.Add(c.Usage[corev1.ResourceCPU])
		memory.Add(c.Usage[corev1.ResourceMemory])
	}
	t.add(&m.ObjectMeta, m, cpu, memory, m.Window)
}

func (t *table) addNode(m *metrics.NodeMetrics) {
	t.add(&m.ObjectMeta, m, m.Usage[corev1.ResourceCPU], m.Usage[corev1.ResourceMemory], m.Window)
}

func (t *table) add(meta *metav1.ObjectMeta, object runtime.Object, cpu, memory resource.Quantity, window metav1.Duration) {
	t.Rows = append(t.Rows, metav1.TableRow{
		Cells:  []any{meta.Name, meta.Labels[fleet.ClusterLabel], millicores(cpu), mebibytes(memory), window.Duration.String()},
		Object: runtime.RawExtension{Object: object},
	})
}

// The units are those of kubectl top, so that the two can be laid side by side.

func millicores(q resource.Quantity) string { return fmt.Sprintf("%dm", q.MilliValue()) }

func mebibytes(q resource.Quantity) string { return fmt.Sprintf("%dMi", q.Value()/(1<<20)) }
