// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestAnnotations(t *testing.T) {
	const cordon, drain = "fleetscale.io/cordon", "fleetscale.io/drain"
	for name, tc := range map[string]struct {
		now  map[string]string
		act  Act
		want map[string]any
	}{
		"cordon":              {nil, Cordon, map[string]any{cordon: "true"}},
		"cordon again":        {map[string]string{cordon: "true"}, Cordon, nil},
		"cordon after a no":   {map[string]string{cordon: "false"}, Cordon, map[string]any{cordon: "true"}},
		"drain":               {map[string]string{cordon: "true"}, Drain, map[string]any{drain: "true"}},
		"drain again":         {map[string]string{drain: "true"}, Drain, nil},
		"uncordon":            {map[string]string{drain: "true", "a": "b"}, Uncordon, map[string]any{drain: nil}},
		"uncordon both":       {map[string]string{drain: "true", cordon: "maybe"}, Uncordon, map[string]any{drain: nil, cordon: nil}},
		"uncordon a free one": {map[string]string{"a": "b"}, Uncordon, map[string]any{}},
	} {
		fleettest.Same(t, name, tc.want, annotated(tc.now, tc.act))
	}
}

func TestTaints(t *testing.T) {
	notReady := corev1.Taint{Key: "cluster.karmada.io/not-ready", Effect: corev1.TaintEffectNoSchedule}
	cordon := corev1.Taint{Key: "cluster.karmada.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}
	drain := corev1.Taint{Key: "fleetscale.io/drain", Value: "true", Effect: corev1.TaintEffectNoExecute}
	for name, tc := range map[string]struct {
		now     []corev1.Taint
		act     Act
		want    []corev1.Taint
		changed bool
	}{
		"cordon":              {[]corev1.Taint{notReady}, Cordon, []corev1.Taint{notReady, cordon}, true},
		"cordon again":        {[]corev1.Taint{cordon, notReady}, Cordon, []corev1.Taint{cordon, notReady}, false},
		"drain":               {[]corev1.Taint{cordon}, Drain, []corev1.Taint{cordon, drain}, true},
		"uncordon":            {[]corev1.Taint{cordon, notReady, drain}, Uncordon, []corev1.Taint{notReady}, true},
		"uncordon a free one": {[]corev1.Taint{notReady}, Uncordon, []corev1.Taint{notReady}, false},
	} {
		after, changed := tainted(tc.now, tc.act)
		fleettest.Same(t, name, tc.want, after)
		fleettest.Same(t, name+": changed", tc.changed, changed)
	}
	fleettest.Same(t, "others", "; but it gets no more, by its taint cluster.karmada.io/not-ready:NoSchedule, which others set",
		others([]corev1.Taint{notReady}, Uncordon))
	fleettest.Same(t, "others of a cordon", "", others([]corev1.Taint{notReady, cordon}, Cordon))
}

func TestRemains(t *testing.T) {
	here := v1alpha1.ClusterStatus{Name: "east", CurrentReplicas: new(int32(3)), ReadyReplicas: new(int32(2))}
	named := func(name string, spec v1alpha1.FederatedHPASpec, c v1alpha1.ClusterStatus) v1alpha1.FederatedHPA {
		other := v1alpha1.ClusterStatus{Name: "west", CurrentReplicas: new(int32(9))}
		return v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: spec,
			Status: v1alpha1.FederatedHPAStatus{Clusters: []v1alpha1.ClusterStatus{c, other}}}
	}
	silent := here
	silent.State = v1alpha1.ClusterUnreachable
	assigned := &v1alpha1.FederatedHPAAssignment{}
	all := []v1alpha1.FederatedHPA{
		named("central", v1alpha1.FederatedHPASpec{}, here),
		named("divided", v1alpha1.FederatedHPASpec{ReplicaDistribution: &v1alpha1.ReplicaDistribution{}}, here),
		named("distributed", v1alpha1.FederatedHPASpec{FederatedHPAAssignment: assigned}, here),
		named("silent", v1alpha1.FederatedHPASpec{FederatedHPAAssignment: assigned}, silent),
		named("paused", v1alpha1.FederatedHPASpec{Mode: v1alpha1.ModePaused}, here),
		named("tolerant", v1alpha1.FederatedHPASpec{ClusterTolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}, here),
		named("at zero with bounds", v1alpha1.FederatedHPASpec{FederatedHPAAssignment: assigned},
			v1alpha1.ClusterStatus{Name: "east", AssignedMax: new(int32(4))}),
		named("gone", v1alpha1.FederatedHPASpec{}, v1alpha1.ClusterStatus{Name: "east", CurrentReplicas: new(int32(0))}),
	}
	want := []Remainder{
		{"shop", "central", 3, "stays until what places the workload, such as Karmada, moves it"},
		{"shop", "divided", 3, "goes to the others at once, as far as they have room"},
		{"shop", "distributed", 3, "goes to zero once the others run the fleet's minimum"},
		{"shop", "silent", 3, "the others take over at once; nobody waits for a cluster that is silent"},
		{"shop", "paused", 3, "stays: its mode is Paused"},
		{"shop", "tolerant", 3, "stays: its spec.clusterTolerations tolerate the drain"},
		{"shop", "at zero with bounds", 0, "goes to zero once the others run the fleet's minimum"},
	}
	fleettest.Same(t, "remains", want, Remains(all, "east"))
}
