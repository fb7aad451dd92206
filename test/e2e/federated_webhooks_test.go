// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// karmadaPolicies is a kind by which a hub is known to be Karmada's, of any schema. Nothing of ours reads it.
const karmadaPolicies = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: propagationpolicies.policy.karmada.io}
spec:
  group: policy.karmada.io
  scope: Namespaced
  names: {kind: PropagationPolicy, plural: propagationpolicies}
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// karmadasHooks are Karmada's configurations with its entries for our kinds, as its installers bring them back. Nobody answers, so
// that they have no effect here, and are asked for one namespace only.
func karmadasHooks(namespace string) string {
	const configuration = `
apiVersion: admissionregistration.k8s.io/v1
kind: %sWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: %s
  rules:
  - {operations: [CREATE, UPDATE], apiGroups: [autoscaling.karmada.io], apiVersions: ["*"], resources: [federatedhpas], scope: Namespaced}
  clientConfig: {url: "https://localhost:1/nobody"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
  timeoutSeconds: 1
`
	return fmt.Sprintf(configuration, "Mutating", "mutating-config", "autoscaling.karmada.io", namespace) + "---" +
		fmt.Sprintf(configuration, "Validating", "validating-config", "federatedhpa.karmada.io", namespace)
}

// Karmada's webhooks for our kinds come back, and go again: each is told.
func (s *stage) webhooksOfOthers() {
	rights := s.Deploy("overlays/karmada/controller-manager/webhooks.yaml")
	s.t.Cleanup(func() {
		_, _ = s.Feed(afterwards(s.t), karmadasHooks(s.ns), "delete", "--ignore-not-found", "-f", "-")
		_, _ = s.Ask(afterwards(s.t), "delete", "--ignore-not-found", "-f", rights)
		_, _ = s.Feed(afterwards(s.t), karmadaPolicies, "delete", "--ignore-not-found", "-f", "-")
	})
	s.feed(s.t, karmadaPolicies)
	s.kubectl(s.t, "apply", "-f", rights)
	s.webhooksAreOurs(`fleetscale_webhooks_ours{kind="FederatedHPA"} 1`)

	s.feed(s.t, karmadasHooks(s.ns))
	s.webhooksAreOurs(`fleetscale_webhooks_ours{kind="FederatedHPA"} 0`)
	s.webhooksAreOurs(`fleetscale_webhooks_ours{kind="CronFederatedHPA"} 1`)
	for kind, name := range map[string]string{
		"MutatingWebhookConfiguration": "mutating-config", "ValidatingWebhookConfiguration": "validating-config",
	} {
		eventually(s.t, "an Event on "+name+" has the command to run", func(ctx context.Context) error {
			said, err := s.Ask(ctx, "-n", "default", "get", "events", "--field-selector",
				"reason=KarmadaIsAskedToo,involvedObject.kind="+kind+",involvedObject.name="+name, "-o", "jsonpath={.items[*].message}")
			if err == nil && !strings.Contains(said.Stdout, "kubectl patch "+strings.ToLower(kind)+" "+name) {
				err = fmt.Errorf("the Events say %q", said.Stdout)
			}
			return err
		})
	}

	if _, err := s.Feed(s.t.Context(), karmadasHooks(s.ns), "delete", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
	s.webhooksAreOurs(`fleetscale_webhooks_ours{kind="FederatedHPA"} 1`)
}

func (s *stage) webhooksAreOurs(series string) {
	s.t.Helper()
	eventually(s.t, series, func(context.Context) error {
		if !strings.Contains(scrapeText(s.t, s.leader(s.t).Metrics()), series) {
			return errors.New("the leader does not have it")
		}
		return nil
	})
}
