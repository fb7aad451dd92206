// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of a registration, whatever its kind. With the value "true" they act as taints with that key and value.
const (
	// CordonAnnotation acts with the effect NoSchedule.
	CordonAnnotation = "fleetscale.io/cordon"
	// DrainAnnotation acts with the effect NoExecute.
	DrainAnnotation = "fleetscale.io/drain"
)

// Yes is the value of the annotations that makes them act, and that of the taints as which they act.
const Yes = "true"

// Standing is how a cluster takes part.
type Standing int

// The standings; the greater goes before the lesser.
const (
	// Free: without restrictions.
	Free Standing = iota
	// Cordoned: it keeps what it has, may lose some of it, and gets no more.
	Cordoned
	// Drained: others take its part over at once, and nobody waits for it.
	Drained
)

// String is the standing as statuses name it as a reason; empty: free.
func (s Standing) String() string { return [...]string{"", "Cordoned", "Drained"}[s] }

// Verdict is the standing of one cluster. The zero value is that it is free.
type Verdict struct {
	Standing
	// By is the taint that decides.
	By corev1.Taint
}

// Message says what follows, and from what; empty: nothing does.
func (v Verdict) Message() string {
	switch v.Standing {
	case Cordoned:
		return "it gets no more, by its taint " + v.By.ToString()
	case Drained:
		return "others take its part over, by its taint " + v.By.ToString()
	default:
		return ""
	}
}

// Judge returns how a cluster with these taints takes part for one who has these tolerations. The first taint of the greatest
// effect decides.
func Judge(taints []corev1.Taint, tolerations []corev1.Toleration) (v Verdict) {
	for _, taint := range taints {
		if s := standing(taint.Effect); s > v.Standing && !tolerated(taint, tolerations) {
			v = Verdict{s, taint}
		}
	}
	return v
}

func standing(effect corev1.TaintEffect) Standing {
	switch effect {
	case corev1.TaintEffectNoSchedule:
		return Cordoned
	case corev1.TaintEffectNoExecute:
		return Drained
	default:
		return Free
	}
}

func tolerated(taint corev1.Taint, tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) })
}

// tolerates is what it is for Pods and nodes. An empty effect is every effect, and an empty key with the operator Exists every
// taint. Without an operator it is Equal; one that compares numbers tolerates nothing. A time for which to tolerate is not counted:
// it is refused when it is stored.
func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return t.Key != "" && t.Value == taint.Value
	default:
		return false
	}
}

// OfAnnotations returns the taints as which the annotations of a registration act. Wrong are those of them whose value is neither
// "true" nor "false" nor empty; they do not act.
func OfAnnotations(annotations map[string]string) (taints []corev1.Taint, wrong []string) {
	for _, as := range []corev1.Taint{
		{Key: CordonAnnotation, Value: Yes, Effect: corev1.TaintEffectNoSchedule},
		{Key: DrainAnnotation, Value: Yes, Effect: corev1.TaintEffectNoExecute},
	} {
		switch annotations[as.Key] {
		case Yes:
			taints = append(taints, as)
		case "", "false":
		default:
			wrong = append(wrong, as.Key)
		}
	}
	return taints, wrong
}
