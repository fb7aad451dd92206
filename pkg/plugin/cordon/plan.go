// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Act is what a person wants of a member.
type Act int

// The acts.
const (
	// Cordon lets no more go there.
	Cordon Act = iota
	// Drain has others take its part over.
	Drain
	// Uncordon takes both back.
	Uncordon
)

// karmadaUnschedulable is the taint of `karmadactl cordon`.
const karmadaUnschedulable = "cluster.karmada.io/unschedulable"

// annotated returns the annotations to set, nil to remove, where there are these; nothing if all is so already.
func annotated(now map[string]string, act Act) map[string]any {
	switch {
	case act == Cordon && now[taints.CordonAnnotation] != taints.Yes:
		return map[string]any{taints.CordonAnnotation: taints.Yes}
	case act == Drain && now[taints.DrainAnnotation] != taints.Yes:
		return map[string]any{taints.DrainAnnotation: taints.Yes}
	case act != Uncordon:
		return nil
	}
	gone := map[string]any{}
	for _, annotation := range []string{taints.CordonAnnotation, taints.DrainAnnotation} {
		if _, found := now[annotation]; found {
			gone[annotation] = nil
		}
	}
	return gone
}

// tainted returns the taints of a Karmada Cluster after an act, and whether they differ from those before. A cordon is the taint
// that `karmadactl cordon` sets; for a drain Karmada has no command, so that taint has the key of our annotation.
func tainted(now []corev1.Taint, act Act) (after []corev1.Taint, changed bool) {
	cordon := corev1.Taint{Key: karmadaUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	drain := corev1.Taint{Key: taints.DrainAnnotation, Value: taints.Yes, Effect: corev1.TaintEffectNoExecute}
	switch act {
	case Cordon:
		return with(now, cordon)
	case Drain:
		return with(now, drain)
	}
	after = slices.DeleteFunc(slices.Clone(now), func(t corev1.Taint) bool { return t.MatchTaint(&cordon) || t.MatchTaint(&drain) })
	return after, len(after) != len(now)
}

func with(now []corev1.Taint, taint corev1.Taint) (after []corev1.Taint, changed bool) {
	if slices.ContainsFunc(now, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		return now, false
	}
	return append(slices.Clone(now), taint), true
}

// Commands are what to run where another source registers the member: its object is annotated by hand, as its names and
// namespaces are its own.
func Commands(member string, act Act) []string {
	change := map[Act]string{
		Cordon:   taints.CordonAnnotation + "=" + taints.Yes,
		Drain:    taints.DrainAnnotation + "=" + taints.Yes,
		Uncordon: taints.CordonAnnotation + "- " + taints.DrainAnnotation + "-",
	}[act]
	return []string{
		"kubectl -n NAMESPACE annotate clusterprofiles.multicluster.x-k8s.io " + member + " " + change + "   # source clusterprofile",
		"kubectl -n NAMESPACE annotate clusters.cluster.x-k8s.io " + member + " " + change + "   # source capi",
		"kubectl -n argocd annotate secret SECRET " + change + "   # source argocd: the cluster Secret of " + member,
	}
}
