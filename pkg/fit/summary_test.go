// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestEstimateSummary(t *testing.T) {
	tests := map[string]struct {
		summary, template string
		want              int32
	}{
		"no resources":              {`{}`, nothing, 0},
		"Pods that request nothing": {`{allocatable: {pods: 10}, allocated: {pods: 3}, allocating: {pods: 2}}`, nothing, 5},
		"the scarcest resource": {`{allocatable: {cpu: 10, memory: 10Gi, pods: 110}, allocated: {cpu: 3500m}, allocating: {cpu: 500m,
			memory: 9Gi}}`, `{spec: {containers: [{resources: {requests: {cpu: 1, memory: 512Mi}}}]}}`, 2},
		"gaps are not seen":  {`{allocatable: {cpu: 9, pods: 110}}`, oneCPU, 9},
		"more than there is": {`{allocatable: {cpu: 9, pods: 110}, allocated: {cpu: 8}, allocating: {cpu: 4}}`, oneCPU, 0},
		"a resource that is not there": {`{allocatable: {pods: 110}}`,
			`{spec: {containers: [{resources: {limits: {example.com/gpu: 1}}}]}}`, 0},
		"an extended resource, limited": {`{allocatable: {pods: 110, example.com/gpu: 8}, allocated: {example.com/gpu: 3}}`,
			`{spec: {containers: [{resources: {limits: {example.com/gpu: 2}}}]}}`, 2},
		"an extended resource that all have used": {`{allocatable: {pods: 110}, allocated: {example.com/gpu: 3}}`, oneCPU, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := Workload{Namespace: "shop", Selector: labels.Nothing(), Template: read[corev1.PodTemplateSpec](t, tc.template)}
			if got := EstimateSummary(*read[Summary](t, tc.summary), w); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
