// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestRegistrationsAreTaintedByAnnotations(t *testing.T) {
	cordon := corev1.Taint{Key: "fleetscale.io/cordon", Value: "true", Effect: corev1.TaintEffectNoSchedule}
	drain := corev1.Taint{Key: "fleetscale.io/drain", Value: "true", Effect: corev1.TaintEffectNoExecute}
	tests := map[string]struct {
		annotations map[string]string
		want        []corev1.Taint
		warnings    []Fault
	}{
		"nothing": {},
		"both": {
			annotations: map[string]string{"fleetscale.io/cordon": "true", "fleetscale.io/drain": "true"},
			want:        []corev1.Taint{cordon, drain},
		},
		"no":  {annotations: map[string]string{"fleetscale.io/cordon": "false", "fleetscale.io/drain": ""}},
		"one": {annotations: map[string]string{"fleetscale.io/drain": "true"}, want: []corev1.Taint{drain}},
		"neither yes nor no": {
			annotations: map[string]string{"fleetscale.io/cordon": "True\n"},
			warnings: []Fault{{"InvalidTaint",
				`annotation fleetscale.io/cordon: "True\n" is ignored; write "true", or remove the annotation`}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, r := range annotated(t, tc.annotations) {
				fleettest.Same(t, fmt.Sprintf("taints of %s", r), tc.want, r.Taints)
				fleettest.Same(t, fmt.Sprintf("warnings of %s", r), tc.warnings, r.Warnings)
			}
		})
	}
}

func TestKarmadaClustersHaveTaints(t *testing.T) {
	r := karmadaWith(func(c *karmadaCluster) {
		c.Annotations = map[string]string{"fleetscale.io/cordon": "true"}
		c.Spec.Taints = []corev1.Taint{
			{Key: "cluster.karmada.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
			{Key: "wish", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "no key", Effect: corev1.TaintEffectNoExecute},
			{Key: "long", Value: strings.Repeat("x", 100), Effect: corev1.TaintEffectNoExecute},
			{Key: "broken", Value: "yes", Effect: corev1.TaintEffectNoExecute},
		}
	}).Register(Credentials{Awaiting: "its credentials"})
	fleettest.Same(t, "taints", []corev1.Taint{
		{Key: "fleetscale.io/cordon", Value: "true", Effect: corev1.TaintEffectNoSchedule},
		{Key: "cluster.karmada.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
		{Key: "broken", Value: "yes", Effect: corev1.TaintEffectNoExecute},
	}, r.Taints)
	fleettest.Same(t, "warnings", []Fault{
		{"InvalidTaint", `spec.taints[2]: it is ignored: its key "no key" is not a qualified name`},
		{"InvalidTaint", `spec.taints[3]: it is ignored: its value "` + strings.Repeat("x", 80) + `…" is not that of a label`},
	}, r.Warnings)

	many := karmadaWith(func(c *karmadaCluster) {
		c.Spec.Taints = make([]corev1.Taint, 101)
	}).Register(Credentials{Awaiting: "its credentials"})
	fleettest.Same(t, "warnings", []Fault{
		{"InvalidTaint", "spec.taints: it lists 101 taints; those after the first 100 are ignored"}}, many.Warnings)
}
