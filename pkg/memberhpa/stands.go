// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// appliedAnnotation holds the digest of the spec that was rendered. A field that is rendered no more must be taken back,
// and what is stored does not tell whether it was ours; the digest does.
const appliedAnnotation = "fleetscale.io/applied"

func digest(spec autoscalingv2.HorizontalPodAutoscalerSpec) string {
	text, _ := json.Marshal(spec) // of plain values: it has no way to fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Stands reports that applying wanted, as [Render] made it, to what is stored would change nothing: it is laid over what is
// stored, and that is then what it was. False if there is nothing stored, and if the version cannot say what is wanted.
//
// A tolerance that is wanted and not stored counts as stored: an API server drops it before Kubernetes 1.33, and later
// if it is told to, and would be written to forever. One that somebody removed comes back with the next change.
func Stands(stored, wanted *autoscalingv2.HorizontalPodAutoscaler, version string) bool {
	if stored == nil {
		return false
	}
	body, err := Encode(lessDropped(wanted, stored), version)
	if err != nil {
		return false
	}
	laid := stored.DeepCopy()
	laid.Spec.Metrics = nil // the list is written whole: what others put into ours goes
	if err := json.Unmarshal(body, laid); err != nil {
		return false
	}
	laid.TypeMeta = stored.TypeMeta
	return same(laid, stored)
}

// lessDropped is wanted without the tolerances that are not stored.
func lessDropped(wanted, stored *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	wanted = wanted.DeepCopy()
	kept := directions(stored.Spec.Behavior)
	for direction, rules := range directions(wanted.Spec.Behavior) {
		if kept[direction] != nil && kept[direction].Tolerance == nil {
			rules.Tolerance = nil
		}
	}
	return wanted
}

// same compares as the API does: quantities by how they are written, and absent like empty.
func same(a, b *autoscalingv2.HorizontalPodAutoscaler) bool {
	textA, errA := json.Marshal(a)
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}
