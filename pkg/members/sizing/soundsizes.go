// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// What is kept of sizes of a cluster that does not do as their kind says.
const (
	mostSizedContainers = 64
	mostSizedLabels     = 64
	mostSizedAmounts    = 2
	longestSizedText    = 317 // of a label's key, which is the longest
)

// boundedWorkloads are copies of those that the kind allows, and whose amounts do no harm to who reads them as quantities.
func boundedWorkloads(all []v1alpha1.SizedWorkload) (kept []v1alpha1.SizedWorkload) {
	for i := range all[:min(len(all), v1alpha1.MostSizedWorkloads)] {
		if w := &all[i]; soundWorkload(w) {
			kept = append(kept, *w.DeepCopy())
		}
	}
	return kept
}

func soundWorkload(w *v1alpha1.SizedWorkload) bool {
	if len(w.Name) > longestSizedText || len(w.Containers) > mostSizedContainers || !soundTexts(w.MatchLabels, mostSizedLabels) {
		return false
	}
	for i := range w.Containers {
		c := &w.Containers[i]
		if len(c.Name) > longestSizedText || !soundAmounts(c.Requests) || !soundAmounts(c.Limits) {
			return false
		}
	}
	return true
}

func soundAmounts(amounts map[string]string) bool {
	if !soundTexts(amounts, mostSizedAmounts) {
		return false
	}
	written, err := json.Marshal(map[string]any{"requests": amounts})
	return err == nil && guard.JSON(written, &corev1.ResourceRequirements{}) == nil
}

func soundTexts(texts map[string]string, most int) bool {
	for key, value := range texts {
		if len(key) > longestSizedText || len(value) > longestSizedText {
			return false
		}
	}
	return len(texts) <= most
}
