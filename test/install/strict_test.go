// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// An API server judges all files of a release, and the charts with many values. A server-side dry run applies its own schemas, strictly,
// so that a field that a kind does not have, or that is there twice, is refused, and then what no schema says. To be warned is a fault.
// Kinds of others are judged by whoever has them.
func TestStrict(t *testing.T) {
	e := started(t)
	manifests := e.rendered(t)
	e.makesRoom(t, manifests)
	for name, text := range manifests {
		t.Run(name, func(t *testing.T) {
			said, err := e.Feed(t.Context(), text, "--context", "hub", "apply", "--server-side", "--force-conflicts", "--dry-run=server",
				"--validate=strict", "-f", "-")
			if err != nil {
				t.Fatal(err)
			}
			if said.Stderr != "" {
				t.Errorf("kubectl warns:\n%s", said.Stderr)
			}
			if got, want := strings.Count(said.Stdout, "serverside-applied (server dry run)"), len(objectsOf(t, text)); got != want || want == 0 {
				t.Errorf("%d of %d objects were judged:\n%s", got, want, said.Stdout)
			}
		})
	}
	wrong := strings.Replace(manifests["install-standalone.yaml"], "replicas: 2", "replica: 2", 1)
	_, err := e.Feed(t.Context(), wrong, "--context", "hub", "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
	if err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("a field that is none is not refused: %v", err)
	}
}

// values are for what charts can have, together as far as they can be, as Helm's --set takes them.
func values() map[string][]string {
	const plugins = "credentialPlugins.image=registry.example.com/plugins:v1,credentialPlugins.allowed={mine *}"
	return map[string][]string{
		"fleetscale": {
			"hub=standalone,observe=true,namespaces={shop},apis={metrics.k8s.io}",
			"hub=besideMetricsServer,certificates=certManager,monitoring.enabled=true," + plugins,
			"certificates=given,monitoring.enabled=true,controllerManager.prices.cpuHour=1,authority=" +
				"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
			"placementDecisions=true,sources.argocd=true,sources.multiclusterRuntime=true,sources.capi={prod}," +
				"sources.clusterprofile={inventory},sources.rancher={fleet-default}",
			"hub=karmada,throughHub=true", "hub=karmadaBesideMetricsAdapter,namespaces={shop}", "hub=karmadaHost",
		},
		"fleetscale-member": {
			"rights=read,namespaces={shop}", "rights=observe", "create=true,sizes=true", "sizes=true,namespaces={shop}",
		},
	}
}

// rendered are manifests by what they are of.
func (e *env) rendered(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	dist := filepath.Join(e.dir, "bin", "dist")
	files, err := filepath.Glob(filepath.Join(dist, "install-*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(text)
	}
	for chart, ways := range values() {
		packages, err := filepath.Glob(filepath.Join(dist, chart+"-[0-9]*.tgz"))
		if err != nil || len(packages) != 1 {
			t.Fatalf("%v, %v", packages, err)
		}
		for _, way := range ways {
			helm := exec.CommandContext(t.Context(), e.helm, "template", "fleetscale", packages[0], "--namespace", "kube-system", "--set", way)
			var stderr strings.Builder
			helm.Stderr = &stderr
			out, err := helm.Output()
			if err != nil {
				t.Fatalf("%v: %v: %s", helm.Args, err, stderr.String())
			}
			all[chart+" "+way] = string(out)
		}
	}
	return all
}

// objectsOf is what a manifest holds.
func objectsOf(t *testing.T, manifest string) (all []unstructured.Unstructured) {
	t.Helper()
	for document := range strings.SplitSeq("\n"+manifest, "\n---\n") {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.Object != nil {
			all = append(all, o)
		}
	}
	return all
}

// makesRoom has a cluster have the namespaces of manifests, and the kinds of others that they hold, of any schema; for this test.
func (e *env) makesRoom(t *testing.T, manifests map[string]string) {
	t.Helper()
	namespaces := map[string]bool{}
	for _, text := range manifests {
		for _, o := range objectsOf(t, text) {
			if o.GetNamespace() != "" && o.GetNamespace() != "kube-system" && o.GetNamespace() != "default" {
				namespaces[o.GetNamespace()] = true
			}
		}
	}
	var room strings.Builder
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		fmt.Fprintf(&room, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)
	}
	for _, k := range []struct{ group, kind, plural string }{
		{"cert-manager.io/v1", "Issuer", "issuers"}, {"cert-manager.io/v1", "Certificate", "certificates"},
		{"monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors"}, {"monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules"},
	} {
		group, version, _ := strings.Cut(k.group, "/")
		room.WriteString(strings.NewReplacer("GROUP", group, "VERSION", version, "KIND", k.kind, "PLURAL", k.plural).Replace(anyKind))
	}
	if _, err := e.Feed(t.Context(), room.String(), "--context", "hub", "apply", "--server-side", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience) // that of the test has ended
		defer cancel()
		if _, err := e.Feed(ctx, room.String(), "--context", "hub", "delete", "--ignore-not-found", "-f", "-"); err != nil {
			t.Error(err)
		}
	})
	for _, kind := range []string{"issuers.cert-manager.io", "certificates.cert-manager.io", "servicemonitors.monitoring.coreos.com",
		"prometheusrules.monitoring.coreos.com"} {
		err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
			_, err := e.Ask(ctx, "--context", "hub", "get", kind, "-A")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

const anyKind = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions: [{name: VERSION, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
