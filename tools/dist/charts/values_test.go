// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// What would have no effect, or another than it seems, is refused before anything is installed.
func TestSchema(t *testing.T) {
	for name, refused := range map[string]map[string]struct{ values, want string }{
		"fleetscale": {
			"a typo":                         {"namspaces: [shop]", "'namspaces' not allowed"},
			"a typo of a program":            {"webhook: {replica: 3}", "'replica' not allowed"},
			"a typo of a source":             {"sources: {argo: true}", "'argo' not allowed"},
			"a hub that is none":             {"hub: beside-metrics-server", "/hub"},
			"an API that is none":            {"apis: [metrics]", "/apis"},
			"no API":                         {"apis: []", "/apis"},
			"a namespace that can be none":   {"namespaces: [Shop]", "/namespaces"},
			"a limit in other units":         {"webhook: {resources: {limits: {memory: 1G}}}", "/webhook/resources/limits/memory"},
			"no limit":                       {"webhook: {resources: {limits: {memory: null}}}", "missing property 'memory'"},
			"a digest that is none":          {"webhook: {digest: latest}", "/webhook/digest"},
			"arguments that are no flags":    {"webhook: {args: [v=2]}", "/webhook/args"},
			"prices of another program":      {"webhook: {prices: {cpuHour: 1}}", "'prices' not allowed"},
			"no shard":                       {"controllerManager: {shards: 0}", "/controllerManager/shards"},
			"less than no price":             {"controllerManager: {prices: {cpuHour: -1}}", "/controllerManager/prices/cpuHour"},
			"sources on Karmada":             {"hub: karmada\nsources: {capi: [prod]}", "/sources/capi"},
			"sources on its host":            {"hub: karmadaHost\nsources: {argocd: true}", "/sources/argocd"},
			"decisions on Karmada":           {"hub: karmada\nplacementDecisions: true", "/placementDecisions"},
			"cert-manager for Karmada":       {"hub: karmadaBesideMetricsAdapter\ncertificates: certManager", "/certificates"},
			"through the hub where none is":  {"throughHub: true", "/throughHub"},
			"given without an authority":     {"certificates: given", "/authority"},
			"an authority that is none":      {"certificates: given\nauthority: ca.crt", "/authority"},
			"an authority of nothing":        {"authority: \"-----BEGIN CERTIFICATE-----\\n\"", "/authority"},
			"plugins that may not be run":    {"credentialPlugins: {image: a}", "/credentialPlugins/allowed"},
			"commands that nobody has":       {"credentialPlugins: {allowed: [a]}", "/credentialPlugins/allowed"},
			"plugins on Karmada":             {"hub: karmadaHost\ncredentialPlugins: {image: a, allowed: [a]}", "/credentialPlugins/image"},
			"monitoring of Karmada":          {"hub: karmadaHost\nmonitoring: {enabled: true}", "/monitoring/enabled"},
			"a dashboard of Karmada":         {"hub: karmadaHost\ndashboard: {enabled: true}", "/dashboard/enabled"},
			"two dashboards":                 {"dashboard: {enabled: true, replicas: 2}", "/dashboard/replicas"},
			"monitoring of two programs":     {"monitoring: {enabled: true}\nwebhook: {enabled: false}", "/webhook/enabled"},
			"an observer not to be verified": {"observe: true\nmonitoring: {enabled: true}", "/certificates"},
			"a label that is no text":        {"webhook: {podLabels: {a: true}}", "/webhook/podLabels/a"},
			"a volume without a name":        {"webhook: {volumes: [{emptyDir: {}}]}", "/webhook/volumes/0"},
		},
		"fleetscale-member": {
			"a typo":                  {"right: read", "'right' not allowed"},
			"rights that are none":    {"rights: admin", "/rights"},
			"sizes for who reads":     {"rights: read\nsizes: true", "/sizes"},
			"workloads of who reads":  {"rights: observe\ncreate: true", "/create"},
			"some that are observed":  {"rights: observe\nnamespaces: [shop]", "/namespaces"},
			"a namespace that is two": {"namespaces: ['shop,pay']", "/namespaces"},
		},
	} {
		loaded := load(t, name)
		for fault, tc := range refused {
			t.Run(name+" "+fault, func(t *testing.T) {
				_, err := render(t, loaded, "kube-system", tc.values)
				if err == nil || !strings.Contains(err.Error(), "specifications of the schema") || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want one of the schema with %q", err, tc.want)
				}
			})
		}
	}
}

// Who installs into the namespace of the programs, as most do, has made it before: the release has all but that.
func TestNamespaceOfTheRelease(t *testing.T) {
	for name, namespace := range map[string]string{"fleetscale": "fleetscale-system", "fleetscale-member": "fleetscale-member"} {
		loaded := load(t, name)
		elsewhere, err := render(t, loaded, "kube-system", "")
		if err != nil {
			t.Fatal(err)
		}
		within, err := render(t, loaded, namespace, "")
		if err != nil {
			t.Fatal(err)
		}
		want := objects(t, elsewhere)
		id := "v1 Namespace  " + namespace
		if want[id] == nil {
			t.Errorf("%s makes no namespace %s", name, namespace)
		}
		delete(want, id)
		if diff := cmp.Diff(want, objects(t, within)); diff != "" {
			t.Errorf("%s (-elsewhere but for the namespace +within it):\n%s", name, diff)
		}
		const label = "kubectl label namespace %s pod-security.kubernetes.io/enforce=restricted"
		notes := name + "/templates/NOTES.txt"
		if command := fmt.Sprintf(label, namespace); !strings.Contains(within[notes], command) || strings.Contains(elsewhere[notes], command) {
			t.Errorf("%s: the notes are\n%s\nand elsewhere\n%s", name, within[notes], elsewhere[notes])
		}
	}
}

// The notes are of the hub at hand.
func TestNotes(t *testing.T) {
	loaded := load(t, "fleetscale")
	for hub, want := range map[string]string{
		"standalone":                  "kubectl fleetscale join",
		"besideMetricsServer":         "hub-metrics-server-ca",
		"karmada":                     "hub=karmadaHost",
		"karmadaBesideMetricsAdapter": "namespace.karmada.io/skip-auto-propagation=true",
		"karmadaHost":                 "the Secrets with the kubeconfigs",
		"standalone\ncertificates: given\nmonitoring: {enabled: true}\n" + authority: "wait for controller-manager-metrics-tls",
		"standalone\ndashboard: {enabled: true}":                                     "waits for the Secret dashboard-tls",
		"karmadaHost\ncertificates: given":                                           "the Secrets metrics-adapter-tls and webhook-tls",
	} {
		rendered, err := render(t, loaded, "fleetscale-system", "hub: "+hub)
		if err != nil {
			t.Fatal(err)
		}
		if notes := rendered["fleetscale/templates/NOTES.txt"]; !strings.Contains(notes, want) {
			t.Errorf("%s: the notes lack %q:\n%s", hub, want, notes)
		}
	}
}

// Kinds are where Helm never deletes them: with a kind go all its objects. PodSizes are written by a program, and go with the release.
func TestKinds(t *testing.T) {
	for name, want := range map[string]map[string]map[string]any{
		"fleetscale": applied(t, of("deploy/crds")), "fleetscale-member": {},
	} {
		loaded := load(t, name)
		got := map[string]map[string]any{}
		for _, crd := range loaded.CRDObjects() {
			maps.Copy(got, objects(t, map[string]string{crd.Name: string(crd.File.Data)}))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-deploy/crds +chart):\n%s", name, diff)
		}
	}
	for way, tc := range hubs() {
		for id := range applied(t, tc.overlay) {
			if strings.Contains(id, " CustomResourceDefinition ") {
				t.Errorf("%s holds %s", way, id)
			}
		}
	}
}

// A released chart pins its images by their digests, unless somebody wants others.
func TestPinnedImages(t *testing.T) {
	from, err := memory()
	if err != nil {
		t.Fatal(err)
	}
	other := "sha256:" + strings.Repeat("f", 64)
	all, err := Make(from, checkout, Release{"v1.2.3+dirty", "example.com/x", "v1.2.3-dirty", map[string]string{"webhook": aDigest}})
	if err != nil {
		t.Fatal(err)
	}
	loaded := loadFiles(t, all["fleetscale"])
	for name, tc := range map[string]struct{ values, want string }{
		"as released":           {"", "example.com/x/webhook:v1.2.3-dirty@" + aDigest},
		"from another registry": {"image: {registry: mirror:5000}", "mirror:5000/webhook:v1.2.3-dirty@" + aDigest},
		"another tag":           {"image: {tag: v9}", "example.com/x/webhook:v9"},
		"another digest":        {"image: {tag: v9}\nwebhook: {digest: '" + other + "'}", "example.com/x/webhook:v9@" + other},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := render(t, loaded, "kube-system", tc.values)
			if err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(objects(t, rendered)["apps/v1 Deployment fleetscale-system webhook"])
			if err != nil || !strings.Contains(string(text), "image: "+tc.want+"\n") {
				t.Errorf("error %v, no image %s in\n%s", err, tc.want, text)
			}
		})
	}
	if got := loaded.Metadata.Version; got != "1.2.3+dirty" {
		t.Errorf("the version is %s", got)
	}
}
