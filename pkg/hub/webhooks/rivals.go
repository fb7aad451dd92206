// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// The names of Karmada's configurations. Its manifests, chart, operator and
// karmadactl use the same ones.
const (
	Mutating   = "mutating-config"
	Validating = "validating-config"
)

// Rival is a webhook that is asked before one of our kinds is stored.
type Rival struct {
	Name string
	// Kinds is not empty, in the order of [Kinds].
	Kinds []string
}

// Kinds are those that are ours to judge, in the order in which they are told of.
func Kinds() []string {
	var kinds []string
	for _, k := range judged() {
		kinds = append(kinds, k.name)
	}
	return kinds
}

type kind struct{ name, resource string }

func judged() []kind {
	return []kind{
		{v1alpha1.FederatedHPAKind, "federatedhpas"},
		{v1alpha1.CronFederatedHPAKind, "cronfederatedhpas"},
		{v1alpha1.MultidimPodAutoscalerKind, "multidimpodautoscalers"},
	}
}

// InMutating returns the rivals in a configuration of Karmada's, in its order. They take out of
// an object what Karmada does not know.
func InMutating(c *admissionregistrationv1.MutatingWebhookConfiguration) []Rival {
	var rivals []Rival
	for _, w := range c.Webhooks {
		rivals = appendRival(rivals, w.Name, w.Rules)
	}
	return rivals
}

// InValidating returns the rivals in a configuration of Karmada's, in its order. They refuse
// what Karmada does not know.
func InValidating(c *admissionregistrationv1.ValidatingWebhookConfiguration) []Rival {
	var rivals []Rival
	for _, w := range c.Webhooks {
		rivals = appendRival(rivals, w.Name, w.Rules)
	}
	return rivals
}

// appendRival appends the webhook if it is asked when one of our kinds is created or updated. One for deletions of
// everything, as Karmada has, is no rival.
func appendRival(rivals []Rival, name string, rules []admissionregistrationv1.RuleWithOperations) []Rival {
	var kinds []string
	for _, k := range judged() {
		if slices.ContainsFunc(rules, k.isIn) {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		return rivals
	}
	return append(rivals, Rival{name, kinds})
}

func (k kind) isIn(r admissionregistrationv1.RuleWithOperations) bool {
	return hasAny(r.APIGroups, v1alpha1.SchemeGroupVersion.Group, "*") &&
		hasAny(r.APIVersions, v1alpha1.SchemeGroupVersion.Version, "*") &&
		hasAny(r.Resources, k.resource, "*", "*/*") &&
		hasAny(r.Operations, admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.OperationAll)
}

func hasAny[T comparable](all []T, any ...T) bool {
	return slices.ContainsFunc(all, func(one T) bool { return slices.Contains(any, one) })
}

// Remedy is the command that takes rivals out of a configuration, by its resource and name.
func Remedy(resource, name string, rivals []Rival) string {
	var deletions []string
	for _, r := range rivals {
		deletions = append(deletions, fmt.Sprintf(`{"$patch": "delete", "name": %q}`, r.Name))
	}
	return fmt.Sprintf(`kubectl patch %s %s --type strategic -p '{"webhooks": [%s]}'`, resource, name, strings.Join(deletions, ", "))
}
