// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func quantity(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}

func cpuExpression(u usages) string {
	return u.expression("note", "100m", func(rule Usage) *resource.Quantity { return rule.CPU })
}

func TestUsagesBecomeOneExpression(t *testing.T) {
	web := map[string]string{"app": "web", "tier": "front"}
	const note = `"note" in pod.metadata.annotations ? Quantity(pod.metadata.annotations["note"]) : `
	const isWeb = `"app" in pod.metadata.labels && pod.metadata.labels["app"] == "web"` +
		` && "tier" in pod.metadata.labels && pod.metadata.labels["tier"] == "front"`
	tests := map[string]struct {
		set  []Usage
		want string
	}{
		"nothing set": {
			nil,
			note + `Quantity("100m")`,
		},
		"one for all pods": {
			[]Usage{{CPU: quantity("250m")}},
			note + `true ? Quantity("250m") : Quantity("100m")`,
		},
		"the last one comes first": {
			[]Usage{{CPU: quantity("1")}, {Namespace: "shop", Labels: web, CPU: quantity("400m")}},
			note + `(pod.metadata.namespace == "shop" && ` + isWeb + `) ? Quantity("400m") : true ? Quantity("1") : Quantity("100m")`,
		},
		"one for the same pods takes its place, and the last": {
			[]Usage{{CPU: quantity("1")}, {Namespace: "shop", CPU: quantity("2")}, {CPU: quantity("3")}},
			note + `true ? Quantity("3") : (pod.metadata.namespace == "shop") ? Quantity("2") : Quantity("100m")`,
		},
		"one without cpu says nothing of it": {
			[]Usage{{Memory: quantity("1Gi")}},
			note + `Quantity("100m")`,
		},
		"setting memory leaves cpu as it is": {
			[]Usage{{CPU: quantity("1")}, {Memory: quantity("1Gi")}},
			note + `true ? Quantity("1") : Quantity("100m")`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var all usages
			for _, usage := range tc.set {
				all = all.with(usage)
			}
			if diff := cmp.Diff(tc.want, cpuExpression(all)); diff != "" {
				t.Errorf("expression (-want +got):\n%s", diff)
			}
		})
	}
}
