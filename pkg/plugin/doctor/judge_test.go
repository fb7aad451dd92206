// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) metav1.Time { return metav1.NewTime(noon.Add(after)) }

// healthy is a picture in which nothing is wrong.
func healthy() *Picture {
	p := &Picture{
		Settings: Settings{Registrations: "fleetscale-clusters", Writers: "fleetscale-clusters-write", HubFlags: []Flag{{"context", "hub"}}},
		Now:      noon, HubID: "hub-id",
	}
	p.Namespaces.Value = []string{"default", "fleetscale-system", "fleetscale-clusters", "fleetscale-clusters-write"}
	p.Accounts.Value = []string{"default", "metrics-adapter", "controller-manager", "webhook"}
	p.Denied.Value = map[string][]string{"metrics-adapter": nil}
	for _, name := range []string{"metrics-adapter", "controller-manager", "webhook"} {
		p.Deployments.Value = append(p.Deployments.Value, deployment(name, 2))
	}
	p.Services.Value = []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "webhook"}}}
	p.Ready.Value = map[string]int{"webhook": 2}
	for _, name := range apiservice.Names(apiservice.Groups()) {
		p.APIServices.Value = append(p.APIServices.Value, apiService(name))
	}
	p.Mutating.Value = []admissionregistrationv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "fleetscale"}}}
	p.Validating.Value = []admissionregistrationv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "fleetscale"}}}
	for _, resource := range resources() {
		client := admissionregistrationv1.WebhookClientConfig{CABundle: []byte("authority")}
		name := strings.TrimSuffix(resource, "s") + ".fleetscale.io"
		p.Mutating.Value[0].Webhooks = append(p.Mutating.Value[0].Webhooks, admissionregistrationv1.MutatingWebhook{
			Name: name, ClientConfig: client, Rules: rulesFor(resource)})
		p.Validating.Value[0].Webhooks = append(p.Validating.Value[0].Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: name, ClientConfig: client, Rules: rulesFor(resource)})
	}
	p.Leases.Value = []coordinationv1.Lease{leaseIn("fleetscale-system", "one", -time.Second)}
	p.Members.Value = []membersv1alpha1.Member{ready("east"), ready("west")}
	p.Coverage.Value = fleet.Coverage{Answered: []string{"east", "west"}}
	for _, name := range []string{"east", "west"} {
		p.Secrets.Value = append(p.Secrets.Value, secretIn("fleetscale-clusters", name, true), secretIn("fleetscale-clusters-write", name, false))
		p.Labelled.Value = append(p.Labelled.Value, secretIn("fleetscale-clusters", name, true))
	}
	p.Federated.Value = []*v1alpha1.FederatedHPA{federated("web")}
	p.Visited = []Visit{{Cluster: "east"}}
	p.Visited[0].Managed.Value = []metav1.PartialObjectMetadata{managed("uid-of-web", "hub-id")}
	return p
}

func deployment(name string, available int32) appsv1.Deployment {
	return appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))},
		Status: appsv1.DeploymentStatus{AvailableReplicas: available}}
}

func apiService(name string) apiregistrationv1.APIService {
	return apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "fleetscale-system", Name: "metrics-adapter"}},
		Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{
			{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue}}},
	}
}

func rulesFor(resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"autoscaling.karmada.io"}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

// policyEngine is a configuration with one webhook, which is asked about everything.
func policyEngine(webhook string) admissionregistrationv1.ValidatingWebhookConfiguration {
	return admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "engine"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: webhook, ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte("authority")},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"*"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
			}},
		}},
	}
}

func leaseIn(namespace, holder string, renewed time.Duration) coordinationv1.Lease {
	return coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: noon.Add(renewed)}},
	}
}

func ready(name string) membersv1alpha1.Member {
	return membersv1alpha1.Member{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: membersv1alpha1.MemberStatus{
			State: membersv1alpha1.MemberReady, Reason: "Ready", KubernetesVersion: "v1.37.1", MetricsAPIs: []string{"metrics.k8s.io"},
			Source: membersv1alpha1.MemberSource{
				Name: "secret", Kind: "Secret", Namespace: "fleetscale-clusters", ObjectName: name},
			ClockOffsetMilliseconds: new(int64(-29_999)),
			ControllerManager: &membersv1alpha1.ControllerManagerView{State: membersv1alpha1.MemberReady, Reason: "Ready",
				TokenExpiry: new(at(72 * time.Hour))},
		},
	}
}

func secretIn(namespace, name string, labelled bool) metav1.PartialObjectMetadata {
	s := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: at(-648 * time.Hour)}}
	if labelled {
		s.Labels = map[string]string{"fleetscale.io/member": "true"}
	}
	return s
}

func federated(name string) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), CreationTimestamp: at(-time.Hour)},
		Status:     v1alpha1.FederatedHPAStatus{ObservedGeneration: new(int64(1))},
	}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "of-" + name}
	return f
}

func scales[T any](object T, set func(T)) T {
	set(object)
	return object
}

var deploymentWeb = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}

func managed(owner, hub string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web",
		Labels:      map[string]string{v1alpha1.ManagedByLabel: owner},
		Annotations: map[string]string{v1alpha1.RemovedByAnnotation: hub}}}
}

func condition(f *v1alpha1.FederatedHPA, kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus,
	reason string) {
	f.Status.Conditions = append(f.Status.Conditions,
		autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: status, Reason: reason, Message: "words"})
}

// lines are what was found, each in a line.
func lines(r *Report) (all []string) {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			all = append(all, fmt.Sprintf("%s %s: %s => %s", f.Severity, c.Name, f.sentence(), f.Fix))
		}
	}
	return all
}

func TestHealthy(t *testing.T) {
	r := Judge(healthy())
	if diff := cmp.Diff([]string(nil), lines(r)); diff != "" || !r.Whole() || r.Count(Passed) != len(r.Checks) {
		t.Errorf("whole: %v, found (-want +got):\n%s", r.Whole(), diff)
	}
	p := healthy()
	p.Visited = nil
	if r = Judge(p); !r.Whole() || r.Count(Skipped) != 2 || r.Count(Passed) != len(r.Checks)-2 {
		t.Errorf("without contexts of members: %+v", r)
	}
	p = healthy() // of the adapter alone
	p.Accounts.Value, p.Federated.Value, p.Visited = p.Accounts.Value[:2], nil, nil
	p.Mutating.Value, p.Validating.Value, p.Services.Value, p.Leases.Value = nil, nil, nil, nil
	p.Schema.Value = map[string]string{"FederatedHPA": "not served"}
	if r = Judge(p); r.Count(Failed) > 0 || r.Count(Warned) != 1 {
		t.Errorf("where only metrics are served: %q", lines(r))
	}
	p.Federated.Value = []*v1alpha1.FederatedHPA{federated("web")}
	if r = Judge(p); r.Count(Failed) != 3 {
		t.Errorf("where only metrics are served, and somebody has an autoscaler: %q", lines(r))
	}
	if r := Judge(&Picture{Settings: healthy().Settings}); r.Count(Failed) == 0 {
		t.Error("a hub without anything is healthy")
	}
}

// What each check finds, and at which bound: testdata/findings.txt has it, after each of these changes of what is healthy.
func TestFindings(t *testing.T) {
	api := func(p *Picture, name string) *apiregistrationv1.APIService {
		for i := range p.APIServices.Value {
			if p.APIServices.Value[i].Name == name {
				return &p.APIServices.Value[i]
			}
		}
		return nil
	}
	without := func(p *Picture, names ...string) {
		var left []apiregistrationv1.APIService
		for i := range p.APIServices.Value {
			if !strings.Contains(strings.Join(names, " "), p.APIServices.Value[i].Name) {
				left = append(left, p.APIServices.Value[i])
			}
		}
		p.APIServices.Value = left
	}
	elsewhere := func(p *Picture, names ...string) {
		for _, name := range names {
			api(p, name).Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: "metrics-server"}
		}
	}
	unavailable := func(p *Picture, message string) {
		api(p, "v1.metrics.k8s.io").Status.Conditions[0] = apiregistrationv1.APIServiceCondition{
			Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse, Reason: "Broken", Message: message}
	}
	east := func(p *Picture) *membersv1alpha1.MemberStatus { return &p.Members.Value[0].Status }
	silent := func(reason, message string) func(*Picture) {
		return func(p *Picture) {
			s := east(p)
			s.State, s.Reason, s.Message = membersv1alpha1.MemberSilent, reason, message
			s.ControllerManager.State, s.ControllerManager.Reason = membersv1alpha1.MemberSilent, reason // said once
			p.Coverage.Value = fleet.Coverage{Answered: []string{"west"}, Silent: []fleet.SilentMember{{Cluster: "east"}}}
		}
	}
	unwritten := func(reason, message string) func(*Picture) {
		return func(p *Picture) {
			c := east(p).ControllerManager
			c.State, c.Reason, c.Message = membersv1alpha1.MemberSilent, reason, message
		}
	}
	offset := func(d time.Duration) func(*Picture) {
		return func(p *Picture) { east(p).ClockOffsetMilliseconds = new(d.Milliseconds()) }
	}
	expires := func(d time.Duration) func(*Picture) {
		return func(p *Picture) { east(p).ControllerManager.TokenExpiry = new(at(d)) }
	}
	says := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason string) func(*Picture) {
		return func(p *Picture) { condition(p.Federated.Value[0], kind, status, reason) }
	}
	inEast := func(state v1alpha1.ClusterState, reason string) func(*Picture) {
		return func(p *Picture) {
			p.Federated.Value[0].Status.Clusters = []v1alpha1.ClusterStatus{{Name: "east", State: state, Reason: reason, Message: "words"}}
		}
	}
	tests := map[string]func(*Picture){
		"a namespace":                 func(p *Picture) { p.Namespaces.Value = p.Namespaces.Value[:3] },
		"a kind that lacks a field":   func(p *Picture) { p.Schema.Value = map[string]string{"FederatedHPA": "the hub drops fields"} },
		"a right":                     func(p *Picture) { p.Denied.Value["webhook"] = []string{"a", "b", "c", "d", "e", "f"} },
		"no program is installed":     func(p *Picture) { p.Accounts.Value = nil },
		"programs that run elsewhere": func(p *Picture) { p.Deployments.Value = []appsv1.Deployment{deployment("another", 0)} },
		"a program without replicas":  func(p *Picture) { p.Deployments.Value[2].Status.AvailableReplicas = 0 },
		"a program with some":         func(p *Picture) { p.Deployments.Value[0].Status.AvailableReplicas = 1 },
		"a program that was switched off": func(p *Picture) {
			p.Deployments.Value[0].Spec.Replicas, p.Deployments.Value[0].Status.AvailableReplicas = new(int32(0)), 0
		},

		"an APIService is missing":       func(p *Picture) { without(p, "v1beta1.metrics.k8s.io") },
		"our own APIService is missing":  func(p *Picture) { without(p, "v1alpha1.members.fleetscale.io") },
		"that of the history is missing": func(p *Picture) { without(p, "v1alpha1.history.fleetscale.io") },
		"a group is split":               func(p *Picture) { elsewhere(p, "v1beta1.metrics.k8s.io") },
		"custom metrics are left to another": func(p *Picture) {
			elsewhere(p, "v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io")
		},
		"external metrics are left to nobody": func(p *Picture) { without(p, "v1beta1.external.metrics.k8s.io") },
		"external metrics are left to nobody, and should not": func(p *Picture) {
			without(p, "v1beta1.external.metrics.k8s.io")
			p.APIs = []string{"external.metrics.k8s.io"}
		},
		"cpu and memory are left to another on purpose": func(p *Picture) {
			elsewhere(p, "v1.metrics.k8s.io", "v1beta1.metrics.k8s.io")
			p.APIs = []string{"custom.metrics.k8s.io"}
		},
		"what bears our label was pointed elsewhere": func(p *Picture) {
			elsewhere(p, "v1beta1.external.metrics.k8s.io")
			api(p, "v1beta1.external.metrics.k8s.io").Labels = map[string]string{"app.kubernetes.io/part-of": "fleetscale"}
		},
		"a Service of another name": func(p *Picture) {
			for i := range p.APIServices.Value {
				p.APIServices.Value[i].Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "ours", Name: "adapter"}
			}
		},
		"another authority": func(p *Picture) { unavailable(p, "x509: unknown authority") },
		"no replica":        func(p *Picture) { unavailable(p, "no endpoints") },
		"not tried yet":     func(p *Picture) { api(p, "v1.metrics.k8s.io").Status.Conditions = nil },
		"not verified":      func(p *Picture) { api(p, "v1.metrics.k8s.io").Spec.InsecureSkipTLSVerify = true },

		"no webhook is configured": func(p *Picture) { p.Mutating.Value = nil },
		"a kind is not judged": func(p *Picture) {
			p.Validating.Value[0].Webhooks[1].Rules[0].Operations = []admissionregistrationv1.OperationType{"CREATE"}
		},
		"all operations": func(p *Picture) {
			p.Validating.Value[0].Webhooks[1].Rules[0].Operations = []admissionregistrationv1.OperationType{"*"}
		},
		"a webhook that may be away": func(p *Picture) {
			p.Validating.Value[0].Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
		},
		"a webhook without an authority": func(p *Picture) { p.Mutating.Value[0].Webhooks[2].ClientConfig.CABundle = nil },
		"a webhook without replicas":     func(p *Picture) { p.Ready.Value = nil },
		"a webhook elsewhere": func(p *Picture) {
			p.Ready.Value, p.Services.Value[0].Spec.Type = nil, corev1.ServiceTypeExternalName
		},
		"a webhook without a Service":    func(p *Picture) { p.Services.Value = nil },
		"a webhook that does not answer": func(p *Picture) { p.Trial.Value = "failed calling webhook" },
		"a webhook of ours that refuses": func(p *Picture) {
			p.Trial.Value = `admission webhook "federatedhpa.fleetscale.io" denied the request: no`
		},
		"a policy engine that refuses": func(p *Picture) {
			p.Validating.Value = append(p.Validating.Value, policyEngine("validation.gatekeeper.sh"))
			p.Trial.Value = `admission webhook "validation.gatekeeper.sh" denied the request: it needs a label`
		},
		"a policy engine that is away": func(p *Picture) {
			p.Trial.Value = `Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": no endpoints`
		},
		"a policy of the hub that refuses": func(p *Picture) {
			p.Trial.Value = `federatedhpas "fleetscale-doctor" is forbidden: ValidatingAdmissionPolicy 'teams' with binding 'all' denied request: no`
		},
		"a policy engine that lets it pass": func(p *Picture) {
			p.Validating.Value = append(p.Validating.Value, policyEngine("validation.gatekeeper.sh"))
		},

		"a Lease that ends now":     func(p *Picture) { p.Leases.Value[0] = leaseIn("fleetscale-system", "one", -20*time.Second+1) },
		"a Lease that has ended":    func(p *Picture) { p.Leases.Value[0] = leaseIn("fleetscale-system", "one", -20*time.Second) },
		"a Lease that was released": func(p *Picture) { p.Leases.Value[0] = leaseIn("fleetscale-system", "", 0) },
		"no Lease":                  func(p *Picture) { p.Leases.Value = nil },
		"two Leases, of which one is old": func(p *Picture) {
			p.Leases.Value = append(p.Leases.Value, leaseIn("default", "old", -time.Hour))
		},
		"two leaders": func(p *Picture) { p.Leases.Value = append(p.Leases.Value, leaseIn("other", "two", 0)) },

		"a webhook of Karmada": func(p *Picture) {
			p.Mutating.Value = append(p.Mutating.Value, admissionregistrationv1.MutatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: "mutating-config"}, Webhooks: []admissionregistrationv1.MutatingWebhook{
					{Name: "autoscaling.karmada.io", Rules: rulesFor("federatedhpas")}, {Name: "work.karmada.io", Rules: rulesFor("works")},
					{Name: "policy.example.com", Rules: rulesFor("federatedhpas")}}})
		},
		"a webhook of Karmada that is asked about everything": func(p *Picture) {
			p.Validating.Value = append(p.Validating.Value, policyEngine("everything.karmada.io"))
		},
		"a webhook of Karmada for deletions": func(p *Picture) {
			engine := policyEngine("resourcedeletionprotection.karmada.io")
			engine.Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{"DELETE"}
			p.Validating.Value = append(p.Validating.Value, engine)
		},
		"our webhook is asked about everything": func(p *Picture) {
			p.Validating.Value[0].Webhooks = policyEngine("all.fleetscale.io").Webhooks
		},
		"another controller": func(p *Picture) {
			wrote := func(manager string, before time.Duration) metav1.ManagedFieldsEntry {
				return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", Time: new(at(-before))}
			}
			p.Federated.Value[0].ManagedFields = []metav1.ManagedFieldsEntry{wrote("fleetscale-federatedhpa", 0), wrote("karmada-controller-manager",
				5*time.Minute-time.Second)}
			p.Cron.Value = []*v1alpha1.CronFederatedHPA{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "old", ManagedFields: []metav1.
				ManagedFieldsEntry{wrote("somebody", 5*time.Minute)}}, Status: v1alpha1.CronFederatedHPAStatus{ObservedGeneration: new(int64(1))}}}
		},

		"no members":               func(p *Picture) { p.Members.Value, p.Secrets.Value, p.Labelled.Value = nil, nil, nil },
		"a member that is new":     silent("NotContacted", ""),
		"a spare":                  func(p *Picture) { east(p).State = membersv1alpha1.MemberSpare },
		"a member that is late":    silent("Timeout", "no answer within 5s"),
		"a token that is refused":  silent("Forbidden", "401 to GET"),
		"a right that is refused":  silent("Forbidden", "403 to GET"),
		"a certificate":            silent("CertificateInvalid", "x"),
		"a name":                   silent("InvalidName", "x"),
		"a reason without command": silent("Quarantined", ""),
		"a member of another source": func(p *Picture) {
			silent("CertificateInvalid", "x")(p)
			east(p).Source = membersv1alpha1.MemberSource{Name: "karmada", Kind: "Cluster", ObjectName: "east"}
		},

		"writing is refused":           unwritten("Forbidden", "403"),
		"nobody can write":             unwritten("MissingCredentials", "none"),
		"nobody knows if it can write": func(p *Picture) { east(p).ControllerManager = nil },

		"no metrics-server": func(p *Picture) { p.Coverage.Value.Absent = []string{"east"} },
		"a metrics-server that fails": func(p *Picture) {
			p.Coverage.Value = fleet.Coverage{Silent: []fleet.SilentMember{{Cluster: "east", Silence: fleet.Silence{Reason: "ServerError"}}}}
		},

		"a clock that is behind":       offset(-30 * time.Second),
		"a clock that is not believed": offset(time.Minute),
		"no clock":                     func(p *Picture) { east(p).ClockOffsetMilliseconds = nil },

		"a token that ends in a while": expires(72 * time.Hour),
		"a token that ends soon":       expires(72*time.Hour - time.Second),
		"a token that has ended":       expires(0),
		"a token that never ends":      func(p *Picture) { east(p).ControllerManager.TokenExpiry = nil },

		"a registration elsewhere":         func(p *Picture) { p.Labelled.Value = append(p.Labelled.Value, secretIn("default", "north", true)) },
		"a registration without its label": func(p *Picture) { p.Secrets.Value[0].Labels = map[string]string{"fleetscale.io/member": "yes"} },
		"one of multicluster-runtime": func(p *Picture) {
			p.Secrets.Value[0].Labels = map[string]string{"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}
		},
		"a credential that registers nothing": func(p *Picture) { p.Secrets.Value = p.Secrets.Value[1:] },

		"an identity that lacks a right": func(p *Picture) {
			p.Visited[0].Denied.Value = map[string][]string{"fleetscale-write": {"list pods"}}
			p.Contexts = map[string]string{"east": "admin@east"}
		},
		"an identity that lacks a right in a namespace": func(p *Picture) {
			p.Visited[0].Denied.Value = map[string][]string{"fleetscale-write": {"list pods in shop"}}
			p.Scope = []string{"shop"}
		},

		"a credential that lacks rights": lacking,
		"a credential that lacks rights, in a silent member": func(p *Picture) {
			lacking(p)
			east(p).State, east(p).Reason = membersv1alpha1.MemberSilent, "Timeout"
			east(p).ControllerManager.State, east(p).ControllerManager.Reason = membersv1alpha1.MemberSilent, "Timeout"
		},
		"a credential that lacks rights, of which nobody tells any more": func(p *Picture) {
			lacking(p)
			east(p).MissingRights, east(p).ControllerManager.Stale = nil, true
		},
		"a credential that lacks rights, of which the member says so too": func(p *Picture) {
			lacking(p)
			p.Visited[0].Denied.Value = map[string][]string{"fleetscale-read": {"list pods.metrics.k8s.io"}}
		},
		"a credential that lacks rights, of which another member says so": func(p *Picture) {
			lacking(p)
			p.Visited[0].Cluster = "west"
			p.Visited[0].Denied.Value = map[string][]string{"fleetscale-read": {"list pods.metrics.k8s.io"}}
		},
		"a credential that lacks rights in namespaces": func(p *Picture) {
			lacking(p)
			p.Scope = []string{"shop", "pay"}
		},
		"a credential that lacks rights, of another source": func(p *Picture) {
			lacking(p)
			east(p).ControllerManager.MissingRights = nil
			east(p).Source = membersv1alpha1.MemberSource{Name: "karmada", Kind: "Cluster", ObjectName: "east"}
		},

		"a quantity": func(p *Picture) {
			p.Unreadable = []Unreadable{{"FederatedHPA", "shop", "bad", "spec.metrics: 1e-999999"}}
		},

		"a workload that cannot be scaled":  says(autoscalingv2.AbleToScale, corev1.ConditionFalse, "ScaleUndone"),
		"a spec that was cut":               says(autoscalingv2.AbleToScale, corev1.ConditionFalse, "SpecCut"),
		"a workload that nobody propagates": says(v1alpha1.Propagated, corev1.ConditionFalse, "NotPropagated"),
		"a preference of nothing":           says(v1alpha1.PreferenceUnmatched, corev1.ConditionTrue, "Unmatched"),
		"a workload at zero":                says(autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled"),
		"one that is well":                  says(autoscalingv2.ScalingActive, corev1.ConditionTrue, "ValidMetricFound"),
		"one that is paused": func(p *Picture) {
			says(autoscalingv2.ScalingActive, corev1.ConditionFalse, "FailedGetResourceMetric")(p)
			p.Federated.Value[0].Spec.Mode = v1alpha1.ModePaused
		},
		"one that is new": func(p *Picture) {
			p.Federated.Value[0].Status, p.Federated.Value[0].CreationTimestamp = v1alpha1.FederatedHPAStatus{}, at(-2*time.Minute)
		},
		"one that nobody has seen": func(p *Picture) { p.Federated.Value[0].Status = v1alpha1.FederatedHPAStatus{} },
		"one that is being deleted": func(p *Picture) {
			p.Federated.Value[0].DeletionTimestamp = new(at(-5 * time.Minute))
			p.Federated.Value[0].Finalizers = []string{"f"}
		},
		"one whose deletion hangs": func(p *Picture) {
			p.Federated.Value[0].DeletionTimestamp = new(at(-5*time.Minute - time.Second))
			p.Federated.Value[0].Finalizers = []string{"fleetscale.io/member-autoscalers"}
		},
		"rules that cannot run": func(p *Picture) {
			c := &v1alpha1.CronFederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "day"}}
			c.Status.ObservedGeneration = new(int64(1))
			c.Status.Conditions = []metav1.Condition{{Type: "Conflicting", Status: "True", Reason: "R", Message: "m"},
				{Type: "Ready", Status: "True"}}
			p.Cron.Value = []*v1alpha1.CronFederatedHPA{c}
		},
		"a conflict in a cluster":       inEast(v1alpha1.ClusterConflict, "ScaledByOthers"),
		"a right in a cluster":          inEast(v1alpha1.ClusterUnreachable, "Forbidden"),
		"a cluster that refuses writes": inEast(v1alpha1.ClusterActive, "FailedWrite"),
		"a cluster that is excluded":    inEast(v1alpha1.ClusterExcluded, "NotSelected"),

		"sizes that nobody gives": func(p *Picture) {
			m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
			m.Status.ObservedGeneration = new(int64(1))
			m.Status.Clusters = []v1alpha1.MultidimClusterStatus{{Name: "east", Admission: v1alpha1.AdmissionMissing},
				{Name: "west", Admission: v1alpha1.AdmissionIneffective}, {Name: "north", Admission: v1alpha1.AdmissionInstalled}}
			p.Multidim.Value = []*v1alpha1.MultidimPodAutoscaler{m}
		},

		"an orphan": func(p *Picture) { p.Federated.Value = nil },
		"another hub's": func(p *Picture) {
			p.Federated.Value, p.Visited[0].Managed.Value[0] = nil, managed("uid-of-web", "other")
		},
		"an Event": func(p *Picture) {
			p.LeftBehind.Value = []corev1.Event{{Message: "left in east", InvolvedObject: corev1.ObjectReference{Kind: "FederatedHPA",
				Namespace: "shop", Name: "gone"}}}
		},
	}
	var told strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		p := healthy()
		tests[name](p)
		fmt.Fprintf(&told, "%s:\n", name)
		for _, line := range lines(Judge(p)) {
			fmt.Fprintf(&told, "    %s\n", line)
		}
	}
	golden(t, "findings.txt", told.String())
}

// lacking has both credentials of a member lack rights.
func lacking(p *Picture) {
	s := &p.Members.Value[0].Status
	s.MissingRights = []string{"list pods.metrics.k8s.io", "get nodes.metrics.k8s.io"}
	s.ControllerManager.MissingRights = []string{"list pods", "watch pods", "list nodes", "watch nodes", "list resourcequotas",
		"watch resourcequotas", "get deployments.apps", "and 9 more"}
}

// Two autoscalers of one workload are told once, whatever their order; and those that may stand beside each other are not.
func TestTargets(t *testing.T) {
	web := func(name string, after time.Duration) *v1alpha1.FederatedHPA {
		return scales(federated(name), func(f *v1alpha1.FederatedHPA) {
			f.Spec.ScaleTargetRef, f.CreationTimestamp = deploymentWeb, at(after-time.Hour)
		})
	}
	local := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "local", CreationTimestamp: at(-2 * time.Hour)},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: deploymentWeb}}
	cron := &v1alpha1.CronFederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "day", CreationTimestamp: at(0)},
		Spec:   v1alpha1.CronFederatedHPASpec{ScaleTargetRef: deploymentWeb},
		Status: v1alpha1.CronFederatedHPAStatus{ObservedGeneration: new(int64(1))}}
	elsewhere := web("c", 0)
	elsewhere.Namespace = "other"
	tests := map[string]struct {
		federated []*v1alpha1.FederatedHPA
		cron      []*v1alpha1.CronFederatedHPA
		local     []*autoscalingv2.HorizontalPodAutoscaler
		want      []string
	}{
		"one of each namespace": {[]*v1alpha1.FederatedHPA{web("a", 0), elsewhere}, nil, nil, nil},
		"two of them, the later first": {[]*v1alpha1.FederatedHPA{web("a", time.Minute), web("b", 0)}, nil, nil,
			[]string{`error targets: FederatedHPA shop/b: Deployment "web" is scaled by FederatedHPA "a" already: delete that, or name another ` +
				`workload => kubectl --context hub -n shop delete federatedhpa a`}},
		"an older HorizontalPodAutoscaler": {[]*v1alpha1.FederatedHPA{web("a", 0)}, nil, []*autoscalingv2.HorizontalPodAutoscaler{local},
			[]string{`error targets: FederatedHPA shop/a: Deployment "web" is scaled by HorizontalPodAutoscaler "local" already: delete that, or ` +
				`name another workload => kubectl --context hub -n shop delete horizontalpodautoscaler local`}},
		"rules for the workload itself": {[]*v1alpha1.FederatedHPA{web("a", 0)}, []*v1alpha1.CronFederatedHPA{cron}, nil,
			[]string{`error targets: FederatedHPA shop/a: CronFederatedHPA "day" sets the replicas of Deployment "web" too, and its rules will fail: ` +
				`make it name this FederatedHPA => kubectl --context hub -n shop edit cronfederatedhpa day`}},
		"one that observes": {[]*v1alpha1.FederatedHPA{scales(web("a", 0),
			func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve })}, nil, []*autoscalingv2.HorizontalPodAutoscaler{local}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := healthy()
			p.Federated.Value, p.Cron.Value, p.Local.Value, p.Visited = tc.federated, tc.cron, tc.local, nil
			fleettest.Same(t, "", tc.want, lines(Judge(p)))
		})
	}
}

// What is not known is not checked, and makes no other finding of what is known.
func TestWhatIsNotKnown(t *testing.T) {
	fields := reflect.TypeFor[Picture]()
	seen := 0
	for i := range fields.NumField() {
		p := healthy()
		field := reflect.ValueOf(p).Elem().Field(i)
		if !strings.HasPrefix(field.Type().Name(), "Read[") {
			continue
		}
		seen++
		field.SetZero()
		field.FieldByName("Unknown").SetString("needs a right")
		r := Judge(p)
		told := map[string][]string{}
		for _, c := range r.Checks {
			if len(c.NotChecked) > 0 {
				told[c.Name] = c.NotChecked
			}
			if len(c.NotChecked) > 0 != (c.Result == NotChecked) {
				t.Errorf("%s: %s is %s", fields.Field(i).Name, c.Name, c.Result)
			}
		}
		if len(told) == 0 || r.Whole() || len(lines(r)) > 0 {
			t.Errorf("without %s: not checked %v, found %q", fields.Field(i).Name, told, lines(r))
		}
		for check, why := range told {
			if diff := cmp.Diff([]string{"needs a right"}, why); diff != "" {
				t.Errorf("%s of %s: (-want +got):\n%s", check, fields.Field(i).Name, diff)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d parts of a picture were tried", seen)
	}
	p := healthy()
	p.Elsewhere = "needs list leases"
	if r := Judge(p); r.Whole() || r.Count(NotChecked) != 1 {
		t.Error("Leases of other namespaces need not be known")
	}
}

// How near the end of a token is told follows from its life.
func TestSoon(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		0: 15 * time.Minute, 40 * time.Minute: 15 * time.Minute, 24 * time.Hour: 6 * time.Hour, 720 * time.Hour: 72 * time.Hour,
	} {
		if got := soon(life); got != want {
			t.Errorf("%v: %v, want %v", life, got, want)
		}
	}
	s := secretIn("fleetscale-clusters", "east", true)
	fields := func(text string, after time.Duration) metav1.ManagedFieldsEntry {
		f := metav1.ManagedFieldsEntry{Time: new(at(after)), FieldsV1: &metav1.FieldsV1{}}
		f.FieldsV1.SetRawString(text)
		return f
	}
	s.ManagedFields = []metav1.ManagedFieldsEntry{fields(`{"f:data":{}}`, -time.Hour), fields(`{"f:metadata":{}}`, 0)}
	if got := dataWritten(&s); !got.Equal(noon.Add(-time.Hour)) {
		t.Errorf("its data were written at %v", got)
	}
}
