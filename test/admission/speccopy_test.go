// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"
)

// The copy of a spec follows admitted writes, and nobody else writes it.
func TestCopyOfASpec(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	namespace := e.namespace(t, "copies")
	const manifest = `{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {name: web, namespace: copies,
		annotations: {fleetscale.io/spec: '{"mode":"Paused"}'}}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
		minReplicas: 1, maxReplicas: 3, mode: Observe}}`
	if _, err := e.Feed(t.Context(), manifest, "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	holds := func(what, want string) {
		t.Helper()
		got := e.kubectl(t, "-n", namespace, "get", "fhpa", "web", "-o", `jsonpath={.metadata.annotations.fleetscale\.io/spec}`).Stdout
		if got != want {
			t.Errorf("%s: the copy is %q, want %q", what, got, want)
		}
	}
	patch := func(text string) {
		t.Helper()
		e.kubectl(t, "-n", namespace, "patch", "fhpa", "web", "--type=merge", "-p", text)
	}
	const observes = `{"mode":"Observe"}`
	holds("created with another one", observes)
	patch(`{"metadata":{"annotations":{"fleetscale.io/spec":"{\"federatedHPAAssignment\":{}}"}}}`)
	holds("somebody writes it", observes)
	patch(`{"metadata":{"annotations":{"fleetscale.io/spec":null}}}`)
	holds("somebody takes it away", observes)
	patch(`{"spec":{"mode":"Paused"}}`)
	holds("the spec is changed", `{"mode":"Paused"}`)
	patch(`{"spec":{"mode":null}}`)
	holds("the field is removed", "")
}

// The copy of a CronFederatedHPA has its rules by their names.
func TestCopyOfRules(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	namespace := e.namespace(t, "copies-of-rules")
	const manifest = `{apiVersion: autoscaling.karmada.io/v1alpha1, kind: CronFederatedHPA, metadata: {name: web, namespace: copies-of-rules},
		spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, rules: [
			{name: plain, schedule: "0 8 * * *", targetReplicas: 2}, {ruleName: punctual, schedule: "0 9 * * *", targetReplicas: 3, maxDelaySeconds: 60}]}}`
	if _, err := e.Feed(t.Context(), manifest, "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	holds := func(what, want string) {
		t.Helper()
		got := e.kubectl(t, "-n", namespace, "get", "cronfhpa", "web", "-o", `jsonpath={.metadata.annotations.fleetscale\.io/spec}`).Stdout
		if got != want {
			t.Errorf("%s: the copy is %q, want %q", what, got, want)
		}
	}
	patch := func(text string) {
		t.Helper()
		e.kubectl(t, "-n", namespace, "patch", "cronfhpa", "web", "--type=json", "-p", text)
	}
	holds("created", `{"rules":{"punctual":{"maxDelaySeconds":60}}}`)
	patch(`[{"op":"replace","path":"/metadata/annotations/fleetscale.io~1spec","value":"{}"}]`)
	holds("somebody writes it", `{"rules":{"punctual":{"maxDelaySeconds":60}}}`)
	patch(`[{"op":"add","path":"/spec/rules/0/maxDelaySeconds","value":90}]`)
	holds("a rule gets it", `{"rules":{"plain":{"maxDelaySeconds":90},"punctual":{"maxDelaySeconds":60}}}`)
	patch(`[{"op":"remove","path":"/spec/rules/1/maxDelaySeconds"}]`)
	holds("a rule loses it", `{"rules":{"plain":{"maxDelaySeconds":90}}}`)
	patch(`[{"op":"remove","path":"/spec/rules/0"}]`)
	holds("the rule goes", "")
}
