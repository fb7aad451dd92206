// SPDX-License-Identifier: Apache-2.0

// Package deploy_test builds every kustomization of deploy/ and checks what
// comes out, without a cluster.
package deploy_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const root = "../../deploy"

// overlays returns what people apply.
func overlays() []string {
	return []string{
		"member",
		"member-create",
		"member-namespaced/read",
		"member-namespaced/read/rights",
		"member-namespaced/sizes",
		"member-namespaced/sizes/rights",
		"member-namespaced/write",
		"member-namespaced/write/rights",
		"member-observe",
		"member-sizes",
		"member-write",
		"overlays/beside-metrics-server",
		"overlays/karmada/beside-metrics-adapter",
		"overlays/karmada/control-plane",
		"overlays/karmada/controller-manager",
		"overlays/karmada/controller-manager-host",
		"overlays/karmada/host",
		"overlays/karmada/through-hub",
		"overlays/karmada/webhook",
		"overlays/karmada/webhook-host",
		"overlays/standalone",
		"overlays/standalone-cert-manager",
	}
}

// withSources is an overlay as people write it, with the components of all sources of registrations.
const withSources = "../test/deploy/testdata/sources"

// withNamespaces is an overlay as people write it, for the namespaces shop and pay.
const withNamespaces = "../test/deploy/testdata/namespaces"

// observing is an overlay as people write it, for a controller-manager that writes nothing.
const observing = "../test/deploy/testdata/observe"

// granting returns all that grants rights.
func granting() []string { return append(overlays(), withSources, withNamespaces, observing) }

// build renders one kustomization to the kinds that client-go knows; others
// are skipped.
func build(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	return known(t, filepath.Join(root, dir))
}

// known is what a folder is rendered to, of the kinds that client-go knows.
func known(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	var objects []runtime.Object
	for _, r := range render(t, folder) {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", r.CurId(), err)
		}
		typed := object.DeepCopyObject()
		if err := yaml.UnmarshalStrict(text, typed); err != nil {
			t.Errorf("%s: %s %s has a field that its kind has not: %v", folder, kind.Kind, r.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects
}

// rendered is what was built before: to build one takes seconds.
var rendered = map[string][]*resource.Resource{}

// render builds the kustomization of a folder to objects of any kind.
func render(t *testing.T, folder string) []*resource.Resource {
	t.Helper()
	if before, ok := rendered[folder]; ok && strings.HasPrefix(folder, root) {
		return before
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatalf("building %s: %v", folder, err)
	}
	rendered[folder] = built.Resources()
	return rendered[folder]
}

func TestOverlaysAreListed(t *testing.T) {
	var found []string
	err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(file) != "kustomization.yaml" {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err == nil && (strings.HasPrefix(dir, "member") || strings.HasPrefix(dir, "overlays/")) {
			found = append(found, filepath.ToSlash(dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if diff := gocmp.Diff(overlays(), found); diff != "" {
		t.Errorf("overlays (-listed here +found):\n%s", diff)
	}
}

// To delete an overlay must not delete what people wrote: with a kind go all its objects. PodSizes are written by a program.
func TestOverlaysHoldNoKinds(t *testing.T) {
	for _, dir := range overlays() {
		for _, r := range render(t, filepath.Join(root, dir)) {
			if r.GetKind() == "CustomResourceDefinition" && r.GetName() != "podsizes.fleetscale.io" {
				t.Errorf("%s holds %s", dir, r.GetName())
			}
		}
	}
	var kinds []string
	for _, r := range render(t, filepath.Join(root, "crds")) {
		kinds = append(kinds, r.GetKind())
	}
	if want := slices.Repeat([]string{"CustomResourceDefinition"}, 4); !slices.Equal(kinds, want) {
		t.Errorf("deploy/crds holds %v, want the four kinds", kinds)
	}
}

// programs returns what each overlay runs; an overlay that is not here runs nothing.
func programs() map[string][]string {
	all := []string{"metrics-adapter", "webhook", "controller-manager"}
	return map[string][]string{
		"overlays/beside-metrics-server":           all,
		"overlays/karmada/controller-manager-host": {"controller-manager"},
		"overlays/karmada/host":                    {"metrics-adapter"},
		"overlays/karmada/webhook-host":            {"webhook"},
		"overlays/standalone":                      all,
		"overlays/standalone-cert-manager":         all,
	}
}

func TestProgramsRunRestrictedAndReplicated(t *testing.T) {
	for _, dir := range overlays() {
		t.Run(dir, func(t *testing.T) {
			var names []string
			for _, d := range deployments(t, dir) {
				names = append(names, d.Name)
				checkReplicated(t, dir, d)
				checkRestricted(t, d)
				checkProbes(t, d)
				checkMemory(t, d, "system-cluster-critical")
				checkReach(t, dir, d)
			}
			if diff := gocmp.Diff(programs()[dir], names); diff != "" {
				t.Errorf("programs (-want +got):\n%s", diff)
			}
		})
	}
}

func checkReplicated(t *testing.T, dir string, d *appsv1.Deployment) {
	t.Helper()
	if d.Spec.Replicas == nil || *d.Spec.Replicas != 2 {
		t.Errorf("replicas of %s are not 2", d.Name)
	}
	if at := d.Spec.Strategy.RollingUpdate; at.MaxUnavailable.IntValue() != 0 {
		t.Errorf("an upgrade of %s takes replicas away first", d.Name)
	}
	for key, value := range d.Spec.Selector.MatchLabels {
		if d.Spec.Template.Labels[key] != value {
			t.Errorf("pods of %s have %s=%q, the Deployment selects %q", d.Name, key, d.Spec.Template.Labels[key], value)
		}
	}
	for _, object := range build(t, dir) {
		if budget, ok := object.(*policyv1.PodDisruptionBudget); ok && gocmp.Equal(budget.Spec.Selector, d.Spec.Selector) {
			return
		}
	}
	t.Errorf("%s has no PodDisruptionBudget", d.Name)
}

func checkRestricted(t *testing.T, d *appsv1.Deployment) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template
	level := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("Pod Security restricted: %s: %s: %s", d.Name, result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	c := pod.Spec.Containers[0]
	if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("the root file system of %s can be written", d.Name)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("resources of %s = %v, want requests and a limit of memory", d.Name, c.Resources)
	}
}

// checkMemory holds the limit by which Go collects garbage to three quarters of the limit at which the kernel kills. (The
// downward API knows the whole limit only.)
func checkMemory(t *testing.T, d *appsv1.Deployment, priority string) {
	t.Helper()
	c := d.Spec.Template.Spec.Containers[0]
	want := fmt.Sprintf("%dMiB", c.Resources.Limits.Memory().Value()*3/4>>20)
	at := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	if at < 0 || c.Env[at].Value != want {
		t.Errorf("environment of %s = %v, want GOMEMLIMIT %s with a limit of %s", d.Name, c.Env, want, c.Resources.Limits.Memory())
	}
	if got := d.Spec.Template.Spec.PriorityClassName; got != priority {
		t.Errorf("priority of %s = %q, want %q", d.Name, got, priority)
	}
}

// checkReach holds that all of a program's ports can be reached but that of its probes, which come from its node, and that
// nothing keeps it from going out.
func checkReach(t *testing.T, dir string, d *appsv1.Deployment) {
	t.Helper()
	var want []string
	for _, port := range d.Spec.Template.Spec.Containers[0].Ports {
		if port.Name != "health" {
			want = append(want, port.Name)
		}
	}
	for _, object := range build(t, dir) {
		p, ok := object.(*networkingv1.NetworkPolicy)
		if !ok || !gocmp.Equal(&p.Spec.PodSelector, d.Spec.Selector) {
			continue
		}
		var open []string
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				open = append(open, port.Port.String())
			}
			var from []networkingv1.NetworkPolicyPeer // the addresses of the hub's API servers, and of scrapers, are not known
			if open[len(open)-1] == "record" {
				from = []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{"app.kubernetes.io/name": "metrics-adapter"}}}}
			}
			if diff := gocmp.Diff(from, rule.From); diff != "" {
				t.Errorf("who reaches %v of %s (-want +open):\n%s", open, d.Name, diff)
			}
		}
		if diff := gocmp.Diff(want, open); diff != "" || p.Namespace != d.Namespace {
			t.Errorf("ports of %s in namespace %s (-served +open):\n%s", d.Name, p.Namespace, diff)
		}
		if !slices.Equal(p.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) {
			t.Errorf("the policy of %s is one of %v", d.Name, p.Spec.PolicyTypes)
		}
		return
	}
	t.Errorf("%s has no NetworkPolicy", d.Name)
}

func checkProbes(t *testing.T, d *appsv1.Deployment) {
	t.Helper()
	alive := map[string]string{
		"metrics-adapter": "/livez", "webhook": "/healthz", "controller-manager": "/healthz", "dashboard": "/healthz",
	}[d.Name]
	c := d.Spec.Template.Spec.Containers[0]
	if c.LivenessProbe == nil || c.LivenessProbe.HTTPGet.Path != alive || c.ReadinessProbe == nil ||
		c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("probes of %s = %v and %v, want %s and /readyz", d.Name, c.LivenessProbe, c.ReadinessProbe, alive)
	}
	if s := c.StartupProbe; s == nil || s.HTTPGet == nil || s.HTTPGet.Path != alive || s.InitialDelaySeconds < 1 ||
		s.PeriodSeconds*s.FailureThreshold < 60 {
		t.Errorf("startup probe of %s = %v, want %s, not at once, and at least a minute of it", d.Name, s, alive)
	}
}

func deployments(t *testing.T, dir string) []*appsv1.Deployment {
	t.Helper()
	return deploymentsOf(build(t, dir))
}

func deploymentsOf(objects []runtime.Object) []*appsv1.Deployment {
	var all []*appsv1.Deployment
	for _, object := range objects {
		if d, ok := object.(*appsv1.Deployment); ok {
			all = append(all, d)
		}
	}
	return all
}
