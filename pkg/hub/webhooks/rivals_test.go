// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

type operations = []admissionregistrationv1.OperationType

// rule is one for these resources of our group, as Karmada writes them.
func rule(resources ...string) admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: operations{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"autoscaling.karmada.io"}, APIVersions: []string{"*"}, Resources: resources,
		},
	}
}

func validating(name string, rules ...admissionregistrationv1.RuleWithOperations) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{Name: name, Rules: rules}
}

func TestWhoIsARival(t *testing.T) {
	but := func(change func(*admissionregistrationv1.RuleWithOperations)) admissionregistrationv1.RuleWithOperations {
		r := rule("federatedhpas")
		change(&r)
		return r
	}
	type rules = []admissionregistrationv1.RuleWithOperations
	tests := map[string]struct {
		rules rules
		want  []string
	}{
		"of a FederatedHPA":          {rules{rule("federatedhpas")}, []string{"FederatedHPA"}},
		"of a CronFederatedHPA":      {rules{rule("cronfederatedhpas")}, []string{"CronFederatedHPA"}},
		"of both, in another order":  {rules{rule("cronfederatedhpas"), rule("federatedhpas")}, []string{"FederatedHPA", "CronFederatedHPA"}},
		"of both, in one rule":       {rules{rule("cronfederatedhpas", "federatedhpas")}, []string{"FederatedHPA", "CronFederatedHPA"}},
		"of all that Karmada scales": {rules{rule("*")}, Kinds()},
		"of subresources":            {rules{rule("federatedhpas/*")}, nil},
		"of everything there is":     {rules{rule("*/*")}, Kinds()},
		"of the status":              {rules{rule("federatedhpas/status")}, nil},
		"of another kind":            {rules{rule("workloadrebalancers")}, nil},
		"without rules":              {nil, nil},
		"of another group": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) { r.APIGroups = []string{"policy.karmada.io"} })},
			nil},
		"of all groups": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) { r.APIGroups = []string{"*"} })},
			[]string{"FederatedHPA"}},
		"of our version": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) { r.APIVersions = []string{"v1alpha1"} })},
			[]string{"FederatedHPA"}},
		"of another version": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) { r.APIVersions = []string{"v1"} })}, nil},
		"of creations": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) {
			r.Operations = operations{admissionregistrationv1.Create}
		})}, []string{"FederatedHPA"}},
		"of updates": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) {
			r.Operations = operations{admissionregistrationv1.Update}
		})}, []string{"FederatedHPA"}},
		"of all operations": {rules{but(func(r *admissionregistrationv1.RuleWithOperations) {
			r.Operations = operations{admissionregistrationv1.OperationAll}
		})}, []string{"FederatedHPA"}},
		// Karmada protects whatever is marked from being deleted.
		"of deletions of everything": {rules{{
			Operations: operations{admissionregistrationv1.Delete},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
		}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []Rival
			if tc.want != nil {
				want = []Rival{{"one.karmada.io", tc.want}}
			}
			fleettest.Same(t, "of those that validate", want, InValidating(&admissionregistrationv1.ValidatingWebhookConfiguration{
				Webhooks: []admissionregistrationv1.ValidatingWebhook{validating("one.karmada.io", tc.rules...)},
			}))
			fleettest.Same(t, "of those that mutate", want, InMutating(&admissionregistrationv1.MutatingWebhookConfiguration{
				Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "one.karmada.io", Rules: tc.rules}},
			}))
		})
	}
}

func TestRemedyNamesAllRivals(t *testing.T) {
	rivals := InValidating(&admissionregistrationv1.ValidatingWebhookConfiguration{
		Webhooks: []admissionregistrationv1.ValidatingWebhook{
			validating("cluster.karmada.io", rule("clusters")),
			validating("federatedhpa.karmada.io", rule("federatedhpas")),
			validating("cronfederatedhpa.karmada.io", rule("cronfederatedhpas")),
		},
	})
	want := "kubectl patch validatingwebhookconfiguration validating-config --type strategic -p " +
		`'{"webhooks": [{"$patch": "delete", "name": "federatedhpa.karmada.io"}, {"$patch": "delete", "name": "cronfederatedhpa.karmada.io"}]}'`
	fleettest.Same(t, "command", want, Remedy("validatingwebhookconfiguration", Validating, rivals))
}
