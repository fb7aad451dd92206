// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// kept is an autoscaler in a namespace where no webhook is asked, and so none is needed.
const kept = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: kept, namespace: kube-system}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}
`

// otherValues change much of what is installed by default: rights, programs, and what leads to them.
const (
	otherHub = "--set observe=true,namespaces={shop},apis={metrics.k8s.io},webhook.replicas=3 " +
		"--set-json controllerManager.prices.cpuHour=0.03"
	otherMember = "--set sizes=true,create=true,namespaces={shop}"
)

// Both charts are installed by the commands of docs/install.md, upgraded, rolled back and uninstalled: API servers accept all that they
// hold, what programs and people wrote meanwhile stays, and at the end nothing is left but the kinds.
func TestHelm(t *testing.T) {
	e, before := started(t), map[string]string{}
	for _, cluster := range []string{"hub", east} {
		if err := e.CreateNamespace(t.Context(), e.named(t, cluster), "shop"); err != nil {
			t.Fatal(err)
		}
		before[cluster] = e.traced(t, cluster)
	}
	p := e.newPage(t)
	blocks := e.commands(t, "install.md", "Install with Helm")
	if len(blocks) != 2 {
		t.Fatalf("the section has %d blocks of commands, want those to install and to upgrade", len(blocks))
	}
	p.types(blocks[:1])
	installed := map[string]string{"hub": e.traced(t, "hub"), east: e.traced(t, east)}
	if _, err := e.Feed(t.Context(), kept, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	written := e.signs(t)

	e.changeKind(t, p)
	p.types(blocks[1:])
	const hub, member = "--kube-context hub --namespace fleetscale-system", "--kube-context east --namespace fleetscale-member"
	p.does("helm upgrade fleetscale bin/dist/fleetscale-[0-9]*.tgz " + hub + " " + otherHub)
	p.does("helm upgrade fleetscale bin/dist/fleetscale-member-[0-9]*.tgz " + member + " " + otherMember)
	for cluster, want := range map[string]string{
		"hub": "RoleBinding shop/fleetscale-controller-manager", east: "RoleBinding shop/fleetscale-write",
	} {
		if now := e.traced(t, cluster); !strings.Contains(now, want) {
			t.Errorf("%s has no %s after the upgrade:\n%s", cluster, want, cmp.Diff(installed[cluster], now))
		}
	}
	p.does("helm rollback fleetscale 1 " + hub)
	p.does("helm rollback fleetscale 1 " + member)
	for cluster, want := range installed {
		more := e.leaves(t, cluster, want)
		more = slices.DeleteFunc(more, func(line string) bool { // what Helm remembers of a release, and what was made above
			return strings.Contains(line, "/sh.helm.release.v1.fleetscale.") || line == "FederatedHPA kube-system/kept"
		})
		if len(more) > 0 {
			t.Errorf("%s has more than before it was upgraded and rolled back: %q", cluster, more)
		}
	}
	if diff := cmp.Diff(written, e.signed(t)); diff != "" {
		t.Errorf("what the programs had written (-before +after):\n%s", diff)
	}

	p.does("helm uninstall fleetscale " + hub)
	p.does("helm uninstall fleetscale " + member)
	kinds := []string{
		"CustomResourceDefinition /cronfederatedhpas.autoscaling.karmada.io", "CustomResourceDefinition /federatedhpas.autoscaling.karmada.io",
		"CustomResourceDefinition /multidimpodautoscalerhistories.autoscaling.karmada.io",
		"CustomResourceDefinition /multidimpodautoscalers.autoscaling.karmada.io",
	}
	for cluster, want := range map[string][]string{
		"hub": append(kinds, "FederatedHPA kube-system/kept", "Namespace /fleetscale-system"), east: {"Namespace /fleetscale-member"},
	} {
		more := slices.DeleteFunc(e.leaves(t, cluster, before[cluster]), func(line string) bool { // of each namespace
			return strings.HasSuffix(line, "/default") || strings.HasSuffix(line, "/kube-root-ca.crt") || strings.HasPrefix(line, "APIService ")
		})
		slices.Sort(more)
		slices.Sort(want)
		if diff := cmp.Diff(want, more); diff != "" {
			t.Errorf("left in %s (-want +got):\n%s", cluster, diff)
		}
	}
	p.does("helm show crds bin/dist/fleetscale-[0-9]*.tgz | kubectl --context hub delete -f -")
	p.does("kubectl --context hub delete namespace fleetscale-system shop; kubectl --context east delete namespace fleetscale-member shop")
}

// signs does what the programs do with their certificates, which have none here: keep one in a Secret, and tell the hub its authority.
func (e *env) signs(t *testing.T) map[string]string {
	t.Helper()
	for object, patch := range map[string]string{
		"secret/webhook-self-signed": `[{"op": "add", "path": "/data", "value": {"tls.crt": "AA=="}}]`,
		"apiservice/v1beta1.metrics.k8s.io": `[{"op": "add", "path": "/spec/caBundle", "value":
			"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBPT0K"}]`,
	} {
		if _, err := e.Ask(t.Context(), "-n", fixture.SystemNamespace, "patch", object, "--type=json", "-p", patch); err != nil {
			t.Fatal(err)
		}
	}
	return e.signed(t)
}

func (e *env) signed(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for object, path := range map[string]string{
		"secret/webhook-self-signed": "{.data}", "apiservice/v1beta1.metrics.k8s.io": "{.spec.caBundle}",
	} {
		said, err := e.Ask(t.Context(), "-n", fixture.SystemNamespace, "get", object, "-o", "jsonpath="+path)
		if err != nil {
			t.Fatal(err)
		}
		if all[object] = said.Stdout; said.Stdout == "" {
			t.Errorf("%s of %s is empty", path, object)
		}
	}
	return all
}

// changeKind has the hub know the kinds of a former version, as far as who applied them: Helm has.
func (e *env) changeKind(t *testing.T, p *page) {
	t.Helper()
	const kind = "crd/federatedhpas.autoscaling.karmada.io"
	said, err := e.Ask(t.Context(), "get", kind, "-o", "json", "--show-managed-fields")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Metadata struct {
			ManagedFields []struct{ Manager, Operation string }
		}
	}
	if err := json.Unmarshal([]byte(said.Stdout), &crd); err != nil {
		t.Fatal(err)
	}
	t.Logf("the kinds were written by %v", crd.Metadata.ManagedFields)
	p.does(`kubectl --context hub get ` + kind + ` -o json | sed 's/"shortNames": \[/"shortNames": ["former",/' | ` +
		`kubectl --context hub replace --field-manager=` + crd.Metadata.ManagedFields[0].Manager + ` -f -`)
}

// does is a command that no page has.
func (p *page) does(script string) {
	p.t.Helper()
	out, err := p.run(p.t.Context(), script)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Logf("$ %s\n%s", script, out)
}

func (e *env) traced(t *testing.T, cluster string) string {
	t.Helper()
	var had string
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) (err error) {
		had, err = e.trace(ctx, cluster)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return had
}
