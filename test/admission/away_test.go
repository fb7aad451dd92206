// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"
)

const kept = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: NAME, namespace: away, finalizers: [example.com/wait]}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}, minReplicas: 1, maxReplicas: 3}
`

func keptAs(name string) string { return strings.ReplaceAll(kept, "NAME", name) }

// While no replica answers, what it would have to judge is refused, and all else
// continues: labels, status, finalizers, deletion.
func TestWithoutAnyReplica(t *testing.T) {
	e := hub(t)
	namespace := e.namespace(t, "away")
	webhook := e.asked(t, 1)[0]
	if _, err := e.Feed(t.Context(), keptAs("kept"), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	if err := webhook.Kill(); err != nil {
		t.Fatal(err)
	}
	refused := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), `failed calling webhook "federatedhpa.fleetscale.io"`) {
			t.Errorf("got %v, want that the webhook could not be called", err)
		}
	}
	_, err := e.Feed(t.Context(), keptAs("new"), "apply", "-f", "-")
	refused(err)
	_, err = e.Ask(t.Context(), "-n", namespace, "patch", "fhpa", "kept", "--type=merge", "-p", `{"spec":{"maxReplicas":4}}`)
	refused(err)

	e.kubectl(t, "-n", namespace, "label", "fhpa", "kept", "team=a")
	e.kubectl(t, "-n", namespace, "patch", "fhpa", "kept", "--subresource=status", "--type=merge", "-p",
		`{"status":{"currentReplicas":2,"desiredReplicas":2}}`)
	e.kubectl(t, "-n", namespace, "delete", "fhpa", "kept", "--wait=false")
	e.kubectl(t, "-n", namespace, "patch", "fhpa", "kept", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	e.kubectl(t, "-n", namespace, "wait", "--for=delete", "fhpa/kept", "--timeout=30s")

	if err := webhook.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Feed(t.Context(), strings.Replace(keptAs("new"), ", finalizers: [example.com/wait]", "", 1), "apply", "-f",
		"-"); err != nil {
		t.Errorf("it is back: %v", err)
	}
}

// In the namespaces that the webhook is not asked about, the schema alone
// judges, also while no replica answers.
func TestSchemaHoldsWithoutTheWebhook(t *testing.T) {
	e := hub(t)
	e.install(t) // nobody answers
	client := e.client(t)
	for _, namespace := range []string{"kube-system", "fleetscale-system"} {
		if _, err := client.try(t.Context(), namespace, probe("good", 3)); err != nil {
			t.Errorf("%s: %v", namespace, err)
		}
		for field, value := range map[string]any{"maxReplicas": int64(0), "minReplicas": int64(-1),
			"scaleTargetRef": map[string]any{"kind": "Deployment", "name": ""}} {
			bad := probe("bad", 3)
			bad["spec"].(map[string]any)[field] = value
			if s, err := client.try(t.Context(), namespace, bad); err == nil || s.by != "" || len(s.causes) == 0 ||
				!strings.HasPrefix(s.causes[0], "spec") {
				t.Errorf("%s: %s %v: %v", namespace, field, value, err)
			}
		}
	}
	if _, err := client.try(t.Context(), "default", probe("good", 3)); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("elsewhere: %v", err)
	}
}
