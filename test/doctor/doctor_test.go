// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/plugin/doctor"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// fault is something that goes wrong with a fleet.
type fault struct {
	name string
	// short: it is planted in the short form of the tests, too.
	short bool
	// check finds it, in these words; fix is a part of the command.
	check, want, fix string
	plant, undo      func(context.Context, *env) error
}

// kubectl is a command, which words separate.
func kubectl(command string, args ...string) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		_, err := e.Ask(ctx, append(strings.Fields(command), args...)...)
		return err
	}
}

// feed applies a manifest, as the arguments say.
func feed(manifest, command string) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		_, err := e.Feed(ctx, manifest, strings.Fields(command)...)
		return err
	}
}

func misbehave(bad misbehaviour) func(context.Context, *env) error {
	return func(_ context.Context, e *env) error {
		e.west.misbehave(bad)
		return nil
	}
}

func behave(_ context.Context, e *env) error {
	e.west.misbehave(misbehaviour{})
	return nil
}

func takeOver(ctx context.Context, e *env) error {
	said, err := e.TakeOver(ctx, e.adapter)
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

func installWebhook(ctx context.Context, e *env) error {
	return e.InstallWebhook(ctx, e.Hub(), e.webhook.Port)
}

func installKinds(ctx context.Context, e *env) error { return e.InstallKinds(ctx, e.Hub()) }

// writeRights grants them again in east.
func writeRights(ctx context.Context, e *env) error {
	_, err := e.Ask(ctx, "--context", east, "apply", "-k", e.Deploy("member-write"))
	return err
}

const (
	hpa = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: other%s}, spec: {maxReplicas: 2,
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}}}`
	lease = `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: controller-manager.fleetscale.io, namespace: default},
  spec: {holderIdentity: another, leaseDurationSeconds: 600, renewTime: %q}}`
	karmadas = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: validating-config},
  webhooks: [{name: federatedhpa.karmada.io, clientConfig: {url: "https://127.0.0.1:1/validate"}, failurePolicy: Ignore, sideEffects: None,
    admissionReviewVersions: [v1], objectSelector: {matchLabels: {no: one}},
    rules: [{apiGroups: [autoscaling.karmada.io], apiVersions: ["*"], resources: [federatedhpas], operations: [CREATE, UPDATE]}]}]}`
)

var faults = []fault{
	{
		name: "an APIService is missing", short: true,
		check: "apiservices", want: "APIService v1.metrics.k8s.io: it does not exist", fix: "takeover --apis=metrics.k8s.io",
		plant: kubectl("delete apiservice v1.metrics.k8s.io"), undo: takeOver,
	},
	{
		name:  "an APIService leads elsewhere, and another version of its group does not",
		check: "apiservices", want: "it leads to Service kube-system/metrics-server, and not to Service fleetscale-system/metrics-adapter; " +
			"v1.metrics.k8s.io does", fix: "takeover --apis=metrics.k8s.io",
		plant: kubectl("patch apiservice v1beta1.metrics.k8s.io --type=merge -p",
			`{"spec":{"service":{"namespace":"kube-system","name":"metrics-server"}}}`),
		undo: takeOver,
	},
	{
		name:  "an APIService is verified by another authority",
		check: "apiservices", want: "APIService v1beta1.external.metrics.k8s.io: it is not available: FailedDiscoveryCheck",
		fix: "takeover --apis=external.metrics.k8s.io",
		plant: func(ctx context.Context, e *env) error {
			authority, err := e.member.CA()
			if err != nil {
				return err
			}
			return kubectl("patch apiservice v1beta1.external.metrics.k8s.io --type=merge -p",
				fmt.Sprintf(`{"spec":{"caBundle":%q}}`, base64.StdEncoding.EncodeToString(authority)))(ctx, e)
		},
		undo: takeOver,
	},
	{
		name:  "a kind lacks a field",
		check: "kinds", want: "Kind FederatedHPA: the hub drops fields of FederatedHPA: status.explanation", fix: "-k deploy/crds",
		plant: kubectl("patch crd federatedhpas.autoscaling.karmada.io --type=json -p",
			`[{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/explanation"}]`),
		undo: installKinds,
	},
	{
		name: "the webhook is not asked", short: true,
		check: "webhook", want: "ValidatingWebhookConfiguration fleetscale: it does not exist",
		fix:   "apply --server-side --force-conflicts -k deploy/base/webhook-hub",
		plant: kubectl("delete validatingwebhookconfiguration fleetscale"), undo: installWebhook,
	},
	{
		name:  "what the webhook does not see is stored",
		check: "webhook", want: "failurePolicy is Ignore of federatedhpa.fleetscale.io",
		fix: "apply --server-side --force-conflicts -k deploy/base/webhook-hub",
		plant: kubectl("patch mutatingwebhookconfiguration fleetscale --type=json -p",
			`[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`),
		undo: installWebhook,
	},
	{
		name:  "no replica of the webhook is ready",
		check: "webhook", want: "Service fleetscale-system/webhook: no replica of the webhook is ready", fix: "describe pods",
		plant: kubectl("-n fleetscale-system patch service webhook --type=merge -p",
			`{"spec":{"type":"ClusterIP","externalName":null,"ports":[{"port":443}]}}`),
		undo: func(ctx context.Context, e *env) error {
			return errors.Join(kubectl("-n fleetscale-system delete service webhook")(ctx, e), installWebhook(ctx, e))
		},
	},
	{
		name:  "the webhook has ended",
		check: "webhook", want: "the hub does not take a FederatedHPA that is as it should be", fix: "describe pods",
		plant: func(_ context.Context, e *env) error { return e.webhook.Stop() },
		undo:  func(ctx context.Context, e *env) error { return e.webhook.Start(ctx) },
	},
	{
		name:  "the controller-manager was killed",
		check: "leader", want: "Lease fleetscale-system/controller-manager.fleetscale.io: ", fix: "describe pods",
		plant: func(_ context.Context, e *env) error { return e.controllers.Kill() },
		undo:  func(ctx context.Context, e *env) error { return e.controllers.Start(ctx) },
	},
	{
		name:  "two controller-managers work",
		check: "leader", want: "controller-managers work in the namespaces default and fleetscale-system at the same time", fix: "get pods -A",
		plant: func(ctx context.Context, e *env) error {
			return feed(fmt.Sprintf(lease, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")), "apply -f -")(ctx, e)
		},
		undo: kubectl("-n default delete lease controller-manager.fleetscale.io"),
	},
	{
		name: "the adapter lacks a right", short: true,
		check: "rights", want: "ServiceAccount fleetscale-system/metrics-adapter: it may not create events in fleetscale-clusters",
		fix:   "apply --server-side --force-conflicts -k deploy/base/hub",
		plant: kubectl("-n fleetscale-clusters delete rolebinding metrics-adapter-events"),
		undo: func(ctx context.Context, e *env) error {
			return kubectl("apply -f", e.Deploy("base/hub/events.yaml"))(ctx, e)
		},
	},
	{
		name: "a member does not answer", short: true,
		check: "reached", want: "west: Secret fleetscale-clusters/west: it is Silent (Timeout", fix: "kubectl --context west get --raw",
		plant: misbehave(misbehaviour{silent: true}), undo: behave,
	},
	{
		name:  "a member does not accept the token",
		check: "reached", want: "west: Secret fleetscale-clusters/west: it is Silent (Forbidden: 401", fix: "rotate west",
		plant: misbehave(misbehaviour{code: 401}), undo: behave,
	},
	{
		name:  "a member says that it is another",
		check: "reached", want: "it is Silent (IdentityConflict", fix: "fleetscale.io/same-as",
		plant: misbehave(misbehaviour{same: true}), undo: behave,
	},
	{
		name:  "a registration has no kubeconfig",
		check: "reached", want: "(InvalidKubeconfig", fix: "get member",
		plant: kubectl("-n fleetscale-clusters annotate secret west fleetscale.io/kubeconfig-key=none"),
		undo:  kubectl("-n fleetscale-clusters annotate secret west fleetscale.io/kubeconfig-key-"),
	},
	{
		name:  "a member has no metrics-server",
		check: "metrics", want: "west: : it has no metrics of cpu and memory", fix: "metrics-server",
		plant: misbehave(misbehaviour{unmetered: true}), undo: behave,
	},
	{
		name:  "the clock of a member is ahead",
		check: "clocks", want: "west: : its clock is a minute or more ahead of ours", fix: "NTP",
		plant: misbehave(misbehaviour{ahead: 90 * time.Second}), undo: behave,
	},
	{
		name:  "a token ends soon, and nobody renews it",
		check: "tokens", want: "east: Secret fleetscale-clusters/east: a token of its registration expires in", fix: "rotate east",
		plant: func(ctx context.Context, e *env) error {
			kubeconfig, err := fixture.MemberKubeconfig(ctx, e.member, 12*time.Minute)
			if err != nil {
				return err
			}
			return errors.Join(kubectl("-n fleetscale-clusters annotate secret east fleetscale.io/renew-token=false")(ctx, e),
				e.Register(ctx, east, kubeconfig))
		},
		undo: func(ctx context.Context, e *env) error {
			return errors.Join(e.JoinToScale(ctx, e.member),
				kubectl("-n fleetscale-clusters annotate secret east fleetscale.io/renew-token-")(ctx, e))
		},
	},
	{
		name:  "the identity that writes lacks a right in a member",
		check: "identities", want: "east: ServiceAccount fleetscale-member/fleetscale-write: it may not list pods",
		fix: "kubectl --context east apply --server-side --force-conflicts -k deploy/member-write",
		plant: kubectl("--context east patch clusterrole fleetscale-write --type=json -p",
			`[{"op":"remove","path":"/rules/1"}]`),
		undo: writeRights,
	},
	{
		name:  "the controller-manager may do nothing in a member",
		check: "written", want: "east: Secret fleetscale-clusters/east: the controller-manager does not reach it",
		fix:   "kubectl --context east apply --server-side --force-conflicts -k deploy/member-write",
		plant: kubectl("--context east delete clusterrolebinding fleetscale-write"), undo: writeRights,
	},
	{
		name:  "a member has no credential that writes",
		check: "written", want: "MissingCredentials", fix: "join west",
		plant: kubectl("-n fleetscale-clusters-write delete secret west"),
		undo:  func(ctx context.Context, e *env) error { return e.joinWest(ctx) },
	},
	{
		name:  "a registration is in another namespace",
		check: "registrations", want: "Secret default/north: it has the label of a registration, and is never read", fix: "join north",
		plant: feed("{apiVersion: v1, kind: Secret, metadata: {name: north, namespace: default, labels: {fleetscale.io/member: 'true'}}}",
			"apply -f -"),
		undo: kubectl("-n default delete secret north"),
	},
	{
		name:  "a registration lacks the label",
		check: "registrations", want: "Secret fleetscale-clusters/north: it registers no cluster", fix: "label --overwrite secret north",
		plant: kubectl("-n fleetscale-clusters create secret generic north"),
		undo:  kubectl("-n fleetscale-clusters delete secret north"),
	},
	{
		name: "a HorizontalPodAutoscaler of the hub has the same target", short: true,
		check: "targets", want: `FederatedHPA shop/web: Deployment "web" is scaled by HorizontalPodAutoscaler "other" already`,
		fix:   "-n shop delete horizontalpodautoscaler other",
		plant: feed(fmt.Sprintf(hpa, "", "web"), "-n shop apply -f -"), undo: kubectl("-n shop delete hpa other"),
	},
	{
		name:  "a HorizontalPodAutoscaler of a member has the same target",
		check: "statuses", want: "east: FederatedHPA shop/web: it does not act in the cluster: Conflict", fix: "--context east -n shop get hpa",
		plant: feed(fmt.Sprintf(hpa, "", "web"), "--context east -n shop apply -f -"), undo: kubectl("--context east -n shop delete hpa other"),
	},
	{
		name:  "an autoscaler was left behind in a member",
		check: "leftovers", want: "east: HorizontalPodAutoscaler shop/other: it scales with the bounds that it has",
		fix:   "label hpa other fleetscale.io/managed-by-",
		plant: feed(fmt.Sprintf(hpa, ", labels: {fleetscale.io/managed-by: gone}", "gone"), "--context east -n shop apply -f -"),
		undo:  kubectl("--context east -n shop delete hpa other"),
	},
	{
		name:  "an autoscaler names a workload that nobody has",
		check: "statuses", want: "FederatedHPA shop/lost: AbleToScale is False", fix: "describe federatedhpa lost",
		plant: feed(strings.NewReplacer("name: web", "name: lost").Replace(autoscaler), "-n shop apply -f -"),
		undo:  kubectl("-n shop delete fhpa lost"),
	},
	{
		name:  "Karmada's controller works too",
		check: "rivals", want: "FederatedHPA shop/lost: karmada-controller-manager writes its status too",
		fix: "-federatedHorizontalPodAutoscaler",
		plant: func(ctx context.Context, e *env) error {
			return errors.Join(feed(strings.NewReplacer("name: web", "name: lost").Replace(autoscaler), "-n shop apply -f -")(ctx, e),
				kubectl("-n shop patch fhpa lost --subresource=status --field-manager=karmada-controller-manager --type=merge -p",
					`{"status":{"desiredReplicas":7}}`)(ctx, e))
		},
		undo: kubectl("-n shop delete fhpa lost"),
	},
	{
		name:  "Karmada's webhook judges too",
		check: "rivals", want: "the webhook federatedhpa.karmada.io of Karmada judges our kinds too", fix: "patch validatingwebhookconfiguration",
		plant: feed(karmadas, "apply -f -"), undo: kubectl("delete validatingwebhookconfiguration validating-config"),
	},
}

// Each fault is found, by the check that is for it and with a command; and before and after it nothing is.
func TestFaults(t *testing.T) {
	e := shared.Of(t)
	e.awaitHealthy(t)
	planted := 0
	for _, f := range faults {
		if testing.Short() && !f.short {
			continue
		}
		planted++
		t.Run(f.name, func(t *testing.T) {
			if err := f.plant(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			err := fixture.Await(t.Context(), patience, func(ctx context.Context) error { return e.finds(ctx, f) })
			if err != nil {
				t.Error(err)
			}
			if err := f.undo(context.WithoutCancel(t.Context()), e); err != nil {
				t.Fatal(err)
			}
			e.awaitHealthy(t)
		})
	}
	if !testing.Short() && planted < 15 {
		t.Errorf("%d faults were planted, want 15 or more", planted)
	}
}

// finds returns an error unless doctor tells of the fault.
func (e *env) finds(ctx context.Context, f fault) error {
	r, err := e.doctor(ctx, visitEast)
	if err != nil {
		return err
	}
	for _, c := range r.Checks {
		for _, found := range c.Findings {
			line := fmt.Sprintf("%s: %s: %s", found.Cluster, found.Object, found.What)
			if c.Name != f.check || !strings.Contains(line, f.want) {
				continue
			}
			if !strings.Contains(found.Fix, f.fix) {
				return fmt.Errorf("the command is %s", found.Fix)
			}
			if (r.code == 1) != (r.Count(doctor.Failed) > 0) {
				return fmt.Errorf("exit code %d", r.code)
			}
			return nil
		}
	}
	return fmt.Errorf("exit code %d; it finds %q", r.code, r.findings())
}

// Who may do nothing is told what it takes, and of no fault.
func TestWithoutRights(t *testing.T) {
	e := shared.Of(t)
	e.awaitHealthy(t)
	r, err := e.doctor(t.Context(), "--as=nobody")
	if err != nil || r.code != 2 || r.Count(doctor.Failed)+r.Count(doctor.Warned) > 0 {
		t.Fatalf("exit code %d, %v: %q", r.code, err, r.findings())
	}
	for check, want := range map[string]string{
		"apiservices":   "needs list apiservices.apiregistration.k8s.io",
		"registrations": "needs list secrets in fleetscale-clusters",
		"leader":        "needs list leases.coordination.k8s.io in fleetscale-system",
		"webhook":       "needs create federatedhpas.autoscaling.karmada.io in default",
		"reached":       "needs list members.members.fleetscale.io",
		"rights":        "needs list serviceaccounts in fleetscale-system",
	} {
		for _, c := range r.Checks {
			if c.Name == check && (c.Result != doctor.NotChecked || !strings.Contains(strings.Join(c.NotChecked, "; "), want)) {
				t.Errorf("%s: %s %q, want %q", check, c.Result, c.NotChecked, want)
			}
		}
	}
}

// A person sees a table, and what is wrong below it.
func TestTable(t *testing.T) {
	e := shared.Of(t)
	e.awaitHealthy(t)
	said, err := e.Fleetscale(t.Context(), "doctor")
	if err != nil || !strings.Contains(said.Stdout, "apiservices     ✓") || strings.Contains(said.Stdout, "✗") {
		t.Errorf("%v\n%s", err, said.Stdout)
	}
	t.Log(said.Stdout)
}
