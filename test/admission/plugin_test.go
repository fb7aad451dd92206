// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"
)

const pluginManifests = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  behavior: {scaleDown: {selectPolicy: Min}}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: office}
spec:
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}
  rules:
  - {name: morning, schedule: "30 8 * * *", timeZone: Asia/Shanghai, targetMinReplicas: 2}
---
apiVersion: v1
kind: Secret
metadata: {name: east, labels: {fleetscale.io/member: "true"}}
`

// What people type works on a hub with the schema and the webhook: each command is told what it did, and the hub what it is to be.
func TestPluginAsPeopleType(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	namespace := e.namespace(t, "plugin")
	if _, err := e.Feed(t.Context(), pluginManifests, "-n", namespace, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	type field struct{ object, path, want string }
	const before = `fleetscale\.io/before-pause`
	for _, step := range []struct {
		typed, want string
		fields      []field
	}{
		{"cron next", "morning", nil},
		{"pause fhpa/web --dry-run=server", "FederatedHPA plugin/web: paused (server dry run)", []field{{"fhpa/web", "{.spec.mode}", ""}}},
		{"pause fhpa/web cronfhpa/office", "rules morning are suspended",
			[]field{{"fhpa/web", "{.spec.mode}", "Paused"}, {"cronfhpa/office", "{.spec.rules[0].suspend}", "true"}}},
		{"pause --scale-down fhpa web", "scale-in paused", []field{{"fhpa/web", "{.spec.behavior.scaleDown.selectPolicy}", "Disabled"}}},
		{"resume fhpa/web", "resumed; scale-in resumed", []field{{"fhpa/web", "{.spec.mode}", "Active"},
			{"fhpa/web", "{.spec.behavior.scaleDown.selectPolicy}", "Min"}, {"fhpa/web", "{.metadata.annotations." + before + "}", ""}}},
		{"resume cronfhpa/office", "resumed: rules morning", []field{{"cronfhpa/office", "{.spec.rules[0].suspend}", "false"}}},
		{"cordon east --cluster-namespace plugin", "Secret plugin/east: cordoned",
			[]field{{"secret/east", `{.metadata.annotations.fleetscale\.io/cordon}`, "true"}}},
		{"drain east --cluster-namespace plugin", "no FederatedHPA has anything there",
			[]field{{"secret/east", `{.metadata.annotations.fleetscale\.io/drain}`, "true"}}},
		{"uncordon east --cluster-namespace plugin", "uncordoned",
			[]field{{"secret/east", `{.metadata.annotations.fleetscale\.io/cordon}{.metadata.annotations.fleetscale\.io/drain}`, ""}}},
	} {
		said, err := e.Fleetscale(t.Context(), append(strings.Fields(step.typed), "-n", namespace)...)
		if err != nil || !strings.Contains(said.Stdout, step.want) {
			t.Fatalf("%s: error %v, want %q:\n%s", step.typed, err, step.want, said.Stdout)
		}
		for _, f := range step.fields {
			got := e.kubectl(t, "-n", namespace, "get", f.object, "-o", "jsonpath="+f.path).Stdout
			if got != f.want {
				t.Errorf("after %s, %s of %s is %q, want %q", step.typed, f.path, f.object, got, f.want)
			}
		}
	}
	said, err := e.Fleetscale(t.Context(), "lint", "-R", e.Deploy("../docs/examples"))
	if err == nil || !strings.Contains(said.Stdout, "[TargetTaken]") {
		t.Errorf("examples that stand beside each other: %v\n%s", err, said.Stdout)
	}
}
