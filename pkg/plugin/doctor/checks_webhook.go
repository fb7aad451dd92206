// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	rivalhooks "github.com/fleetscale/fleetscale/pkg/hub/webhooks"
)

// entry is a webhook of a configuration, of either kind.
type entry struct {
	kind, configuration, name string
	client                    admissionregistrationv1.WebhookClientConfig
	rules                     []admissionregistrationv1.RuleWithOperations
	policy                    *admissionregistrationv1.FailurePolicyType
}

const (
	mutating   = "MutatingWebhookConfiguration"
	validating = "ValidatingWebhookConfiguration"
	// configured is the name of both of ours.
	configured = "fleetscale"
)

// resources are those that the webhook judges.
func resources() []string {
	return []string{"federatedhpas", "cronfederatedhpas", "multidimpodautoscalers"}
}

// entries are those of all configurations.
func entries(v *verdict, p *Picture) (all []entry, ok bool) {
	ofMutating, one := known(v, p.Mutating)
	ofValidating, other := known(v, p.Validating)
	for i := range ofMutating {
		c := &ofMutating[i]
		for j := range c.Webhooks {
			w := &c.Webhooks[j]
			all = append(all, entry{mutating, c.Name, w.Name, w.ClientConfig, w.Rules, w.FailurePolicy})
		}
	}
	for i := range ofValidating {
		c := &ofValidating[i]
		for j := range c.Webhooks {
			w := &c.Webhooks[j]
			all = append(all, entry{validating, c.Name, w.Name, w.ClientConfig, w.Rules, w.FailurePolicy})
		}
	}
	return all, one && other
}

// covers reports whether it is called before the resource is created and before it is updated.
func (e *entry) covers(resource string) bool {
	found := e.operations(resource)
	return slices.Contains(found, admissionregistrationv1.OperationAll) ||
		slices.Contains(found, admissionregistrationv1.Create) && slices.Contains(found, admissionregistrationv1.Update)
}

// operations are those with the resource before which it is called.
func (e *entry) operations(resource string) (all []admissionregistrationv1.OperationType) {
	for i := range e.rules {
		if rule := &e.rules[i]; names(rule.APIGroups, v1alpha1.GroupName) && names(rule.Resources, resource) {
			all = append(all, rule.Operations...)
		}
	}
	return all
}

// names reports whether one is in a list, or all are.
func names(list []string, one string) bool {
	return slices.Contains(list, one) || slices.Contains(list, "*")
}

func webhook(v *verdict, p *Picture) {
	if p.metricsOnly() {
		return
	}
	if all, ok := entries(v, p); ok {
		for _, kind := range []string{mutating, validating} {
			v.configuration(p, kind, slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
				return e.kind != kind || e.configuration != configured
			}))
		}
	}
	v.service(p)
	if refused, ok := known(v, p.Trial); ok && refused != "" {
		v.add(p.refusal(refused))
	}
}

// refuser is the webhook that an API server names where it is one that refuses, or does not answer.
var refuser = regexp.MustCompile(`(admission|calling) webhook "([^"]+)"`)

// refusal is what the trial found. Webhooks of others may be asked about everything, and a policy may be right to refuse what we try: our
// Pods tell nothing of that.
func (p *Picture) refusal(said string) Finding {
	const policyOfOthers = "a policy that is not ours refuses a FederatedHPA, and may refuse others: "
	f := Finding{Error, "", "", "the hub does not take a FederatedHPA that is as it should be: " + said, p.pods(webhooks)}
	named := refuser.FindStringSubmatch(said)
	switch {
	case named == nil && strings.Contains(said, policy):
		return Finding{Warning, "", "", policyOfOthers + said, p.kubectl("get", "validatingadmissionpolicies,validatingadmissionpolicybindings")}
	case named == nil || strings.HasSuffix(named[2], ".fleetscale.io"):
		return f
	case named[1] == "calling":
		f.What = "autoscalers cannot be stored or changed: a webhook that is not ours does not answer: " + said
	case !strings.HasSuffix(named[2], karmadas):
		f.Severity, f.What = Warning, policyOfOthers+said
	}
	f.Object, f.Fix = p.webhookOf(named[2])
	return f
}

// webhookOf is where a webhook is configured, and the command that shows it.
func (p *Picture) webhookOf(name string) (object, fix string) {
	all, _ := entries(&verdict{}, p)
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == name })
	if i < 0 {
		return "Webhook " + name, p.kubectl("get", strings.ToLower(mutating)+"s,"+strings.ToLower(validating)+"s")
	}
	return all[i].kind + " " + all[i].configuration, p.kubectl("get", strings.ToLower(all[i].kind), all[i].configuration, "-o", "yaml")
}

// configuration judges one of ours.
func (v *verdict) configuration(p *Picture, kind string, all []entry) {
	object := kind + " " + configured
	fix := p.kubectl(apply("base/webhook-hub")...)
	if len(all) == 0 {
		v.add(Finding{Error, "", object, "it does not exist: autoscalers are stored without defaults, and whatever they hold", fix})
		return
	}
	var uncovered []string
	for _, resource := range resources() {
		if !slices.ContainsFunc(all, func(e entry) bool { return e.covers(resource) }) {
			uncovered = append(uncovered, resource)
		}
	}
	if len(uncovered) > 0 {
		v.add(Finding{Error, "", object, "the webhook is not asked about " + strings.Join(uncovered, ", "), fix})
	}
	var open, unverified []string
	for i := range all {
		if all[i].policy != nil && *all[i].policy == admissionregistrationv1.Ignore {
			open = append(open, all[i].name)
		}
		if len(all[i].client.CABundle) == 0 {
			unverified = append(unverified, all[i].name)
		}
	}
	if len(open) > 0 {
		v.add(Finding{Warning, "", object, "while the webhook is away, what it would refuse is stored: failurePolicy is Ignore of " +
			strings.Join(open, ", "), fix})
	}
	if len(unverified) > 0 {
		v.add(Finding{Error, "", object, "nothing says whose certificate the webhook has: caBundle is empty of " + strings.Join(unverified, ", "),
			p.pods(webhooks)})
	}
}

// service judges the Service that the configurations of deploy/ lead to. One that has the name of another host says nothing of it.
func (v *verdict) service(p *Picture) {
	all, ok := known(v, p.Services)
	if !ok {
		return
	}
	object := fmt.Sprintf("Service %s/%s", SystemNamespace, webhooks)
	const refused = "autoscalers cannot be stored or changed"
	i := slices.IndexFunc(all, func(s corev1.Service) bool { return s.Name == webhooks })
	switch {
	case i < 0:
		v.add(Finding{Error, "", object, "it does not exist: " + refused, p.kubectl(apply("base/webhook")...)})
	case all[i].Spec.Type == corev1.ServiceTypeExternalName:
	default:
		if ready, ok := known(v, p.Ready); ok && ready[webhooks] == 0 {
			v.add(Finding{Error, "", object, "no replica of the webhook is ready: " + refused, p.pods(webhooks)})
		}
	}
}

// karmadas ends the names of Karmada's webhooks.
const karmadas = ".karmada.io"

// rivalFor is for how long after its last write another controller is taken to be at work.
const rivalFor = 5 * time.Minute

func rivals(v *verdict, p *Picture) {
	if all, ok := known(v, p.Mutating); ok {
		for i := range all {
			v.ofKarmada(p, mutating, all[i].Name, rivalhooks.InMutating(&all[i]))
		}
	}
	if all, ok := known(v, p.Validating); ok {
		for i := range all {
			v.ofKarmada(p, validating, all[i].Name, rivalhooks.InValidating(&all[i]))
		}
	}
	if found, ok := known(v, p.Federated); ok {
		rivalsOf(v, p, v1alpha1.FederatedHPAKind, found)
	}
	if found, ok := known(v, p.Cron); ok {
		rivalsOf(v, p, v1alpha1.CronFederatedHPAKind, found)
	}
}

// ofKarmada finds Karmada's webhooks among those of a configuration that are asked about our kinds. Those of policies are no rivals.
func (v *verdict) ofKarmada(p *Picture, kind, configuration string, asked []rivalhooks.Rival) {
	for _, r := range asked {
		if configuration == configured || !strings.HasSuffix(r.Name, karmadas) {
			continue
		}
		v.add(Finding{Error, "", kind + " " + configuration, "the webhook " + r.Name + " of Karmada judges our kinds too, and refuses what " +
			"it does not know", p.kubectl("patch", strings.ToLower(kind), configuration, "--type", "strategic", "-p",
			`{"webhooks": [{"$patch": "delete", "name": "`+r.Name+`"}]}`)})
	}
}

// rivalsOf finds who else writes statuses of a kind: one finding for each.
func rivalsOf[T metav1.Object](v *verdict, p *Picture, kind string, objects []T) {
	var managers []string
	for _, o := range objects {
		others := slices.DeleteFunc(slices.Clone(o.GetManagedFields()), func(f metav1.ManagedFieldsEntry) bool {
			return strings.HasPrefix(f.Manager, "fleetscale-") // all of our controllers
		})
		manager, found := served.Rival(others, "", p.Now.Add(-rivalFor))
		if !found || slices.Contains(managers, manager) {
			continue
		}
		managers = append(managers, manager)
		fix := p.kubectl("-n", o.GetNamespace(), "get", strings.ToLower(kind), o.GetName(), "-o", "yaml", "--show-managed-fields")
		if strings.Contains(manager, "karmada") {
			fix = p.stopKarmadas()
		}
		v.add(Finding{Error, "", fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName()), fmt.Sprintf("%s writes its status too, and so "+
			"nothing is done with it: switch one of the two off", manager), fix})
	}
}

// stopKarmadas switches off Karmada's controllers of our kinds, on the cluster that hosts Karmada.
func (s *Settings) stopKarmadas() string {
	return s.in("host", "-n", "karmada-system", "patch", "deployment", "karmada-controller-manager", "--type", "json", "-p",
		`[{"op": "add", "path": "/spec/template/spec/containers/0/command/-", `+
			`"value": "--controllers=*,-federatedHorizontalPodAutoscaler,-cronFederatedHorizontalPodAutoscaler"}]`)
}
