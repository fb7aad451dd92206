// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestQuotaLeft(t *testing.T) {
	type list = []string
	type amounts = map[string]string
	const (
		half   = `[{resources: {requests: {cpu: 500m}, limits: {cpu: "1"}}}]`
		double = `[{resources: {requests: {cpu: "2"}}}]`
		high   = `{spec: {priorityClassName: high, containers: [{resources: {requests: {cpu: "1"}}}]}}`
	)
	tests := map[string]struct {
		template string
		quotas   list
		ours     map[string]int64 // Pods by their containers
		want     amounts
	}{
		"no quota": {oneCPU, nil, map[string]int64{half: 2}, amounts{}},
		"one that nothing uses": {oneCPU, list{`{status: {hard: {requests.cpu: "4", limits.memory: 1Gi}}}`}, nil,
			amounts{"requests.cpu": "4", "limits.memory": "1Gi"}},
		"all that it can bound": {oneCPU,
			list{`{status: {hard: {requests.cpu: "4", requests.memory: 4Gi, limits.cpu: "8", limits.memory: 8Gi},
				used: {requests.cpu: "1", requests.memory: 1Gi, limits.cpu: "2", limits.memory: 2Gi}}}`}, nil,
			amounts{"requests.cpu": "3", "requests.memory": "3Gi", "limits.cpu": "6", "limits.memory": "6Gi"}},
		"requests by their other names": {oneCPU, list{`{status: {hard: {cpu: "4", memory: 4Gi}, used: {cpu: "3", memory: 1Gi}}}`},
			map[string]int64{half: 2}, amounts{"requests.cpu": "2", "requests.memory": "3Gi"}},
		"by both names, the lesser": {oneCPU, list{`{status: {hard: {cpu: "4", requests.cpu: "3"}}}`}, nil, amounts{"requests.cpu": "3"}},
		"what it does not tell of sizes": {oneCPU,
			list{`{status: {hard: {pods: "1", count/pods: "1", requests.example.com/gpu: "1", requests.ephemeral-storage: 1}}}`}, nil, amounts{}},
		"what is specified and not in force yet": {oneCPU, list{`{spec: {hard: {cpu: "1"}}}`}, nil, amounts{}},
		"what ours use is theirs": {oneCPU,
			list{`{status: {hard: {requests.cpu: "9", limits.cpu: "9"}, used: {requests.cpu: "5", limits.cpu: "5"}}}`},
			map[string]int64{half: 3, double: 1}, amounts{"requests.cpu": "7500m", "limits.cpu": "7"}},
		"ours that it has not heard of yet use nothing of others": {oneCPU, list{`{status: {hard: {cpu: "4"}, used: {cpu: "1"}}}`},
			map[string]int64{double: 1}, amounts{"requests.cpu": "4"}},
		"one that others have overdrawn": {oneCPU, list{`{status: {hard: {cpu: "4"}, used: {cpu: "7"}}}`},
			map[string]int64{double: 1}, amounts{"requests.cpu": "0"}},
		"one that allows nothing": {oneCPU, list{`{status: {hard: {cpu: "0"}}}`}, nil, amounts{"requests.cpu": "0"}},
		"the least of several, each by itself": {oneCPU,
			list{`{status: {hard: {cpu: "9", memory: 2Gi}}}`, `{status: {hard: {cpu: "10", memory: 4Gi}, used: {cpu: "5"}}}`,
				`{status: {hard: {cpu: "8"}, used: {cpu: "1"}}}`},
			map[string]int64{half: 2}, amounts{"requests.cpu": "6", "requests.memory": "2Gi"}},
		"one whose scope holds": {oneCPU, list{`{spec: {scopes: [NotBestEffort, NotTerminating]}, status: {hard: {cpu: "4"}}}`}, nil,
			amounts{"requests.cpu": "4"}},
		"one of whose scopes one does not": {oneCPU, list{`{spec: {scopes: [NotBestEffort, Terminating]}, status: {hard: {cpu: "4"}}}`}, nil,
			amounts{}},
		"the lesser one is for other Pods": {high, list{
			`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}}, status: {hard: {cpu: "1"}}}`,
			`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}}, status: {hard: {cpu: "2"}}}`},
			nil, amounts{"requests.cpu": "2"}},
		"one for Pods that request something, of a template that does not": {nothing,
			list{`{spec: {scopes: [NotBestEffort]}, status: {hard: {cpu: "4"}}}`}, nil, amounts{}},
		"sidecars and overhead are of ours": {
			`{spec: {overhead: {cpu: 100m}, initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 400m}, limits: {cpu: 500m}}}],
				containers: [{}]}}`,
			list{`{status: {hard: {requests.cpu: "9", limits.cpu: "9"}, used: {requests.cpu: "5", limits.cpu: "5"}}}`},
			map[string]int64{half: 2}, amounts{"requests.cpu": "6", "limits.cpu": "7200m"}},
		"an init container's turn may be the peak of ours": {
			`{spec: {initContainers: [{resources: {requests: {cpu: "1"}}}], containers: [{}]}}`,
			list{`{status: {hard: {cpu: "9"}, used: {cpu: "5"}}}`}, map[string]int64{half: 2, double: 1}, amounts{"requests.cpu": "8"}},
		"what ours request as a whole": {`{spec: {resources: {requests: {cpu: "1"}}, containers: [{}]}}`,
			list{`{status: {hard: {cpu: "9"}, used: {cpu: "5"}}}`}, map[string]int64{half: 2}, amounts{"requests.cpu": "6"}},
		"more than the greatest number": {oneCPU,
			list{`{status: {hard: {cpu: 9223372036854775807}, used: {cpu: -9223372036854775807}}}`,
				`{status: {hard: {memory: 1Gi}, used: {memory: 9223372036854775807}}}`},
			map[string]int64{`[{resources: {requests: {cpu: 9223372036854775807, memory: 1}}}]`: 9},
			amounts{"requests.cpu": "9223372036854775807", "requests.memory": "0"}},
		"ours use more than the greatest number": {oneCPU,
			list{`{status: {hard: {cpu: "4"}, used: {cpu: 9223372036854775807}}}`},
			map[string]int64{`[{resources: {requests: {cpu: 4611686018427387904}}}]`: 4}, amounts{"requests.cpu": "4"}},
		"numbers that only decimals hold, by one name": {oneCPU,
			list{`{status: {hard: {memory: 5000000000000000002}, used: {memory: 3000000000000000003}}}`},
			map[string]int64{`[{resources: {requests: {memory: 1000000000000000001}}}]`: 2},
			amounts{"requests.memory": "4000000000000000001"}},
		"and by the other": {oneCPU,
			list{`{status: {hard: {requests.memory: 5000000000000000002}, used: {requests.memory: 3000000000000000003}}}`},
			map[string]int64{`[{resources: {requests: {memory: 1000000000000000001}}}]`: 2},
			amounts{"requests.memory": "4000000000000000001"}},
		"and those of a quota stay as they are": {oneCPU,
			list{`{status: {hard: {memory: 5000000000000000002}, used: {memory: 1000000000000000001}}}`}, nil,
			amounts{"requests.memory": "4000000000000000001"}},
		"less than nothing": {oneCPU, list{`{status: {hard: {cpu: "-4"}}}`, `{status: {hard: {memory: 1Gi}, used: {memory: -1Gi}}}`}, nil,
			amounts{"requests.cpu": "0", "requests.memory": "1Gi"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var quotas []corev1.ResourceQuota
			for _, manifest := range tc.quotas {
				quotas = append(quotas, *read[corev1.ResourceQuota](t, manifest))
			}
			template := read[corev1.PodTemplateSpec](t, tc.template)
			for _, times := range []string{"at first", "again"} { // nothing is written to
				got := amounts{}
				for name, left := range QuotaLeft(quotas, template, podsWith(t, tc.ours)) {
					got[string(name)] = left.String()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("QuotaLeft() %s (-want +got):\n%s", times, diff)
				}
			}
		})
	}
}

// podsWith are so many Pods of each kind, by their containers.
func podsWith(t *testing.T, kinds map[string]int64) iter.Seq2[[]corev1.Container, int64] {
	return func(yield func([]corev1.Container, int64) bool) {
		for manifest, n := range kinds {
			if !yield(*read[[]corev1.Container](t, manifest), n) {
				return
			}
		}
	}
}
