// SPDX-License-Identifier: Apache-2.0

// Package deploy_test builds every kustomization of deploy/ and checks what
// comes out, without a cluster.
package deploy_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
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
		"member-sizes",
		"member-write",
		"overlays/beside-metrics-server",
		"overlays/karmada/beside-metrics-adapter",
		"overlays/karmada/control-plane",
		"overlays/karmada/controller-manager",
		"overlays/karmada/controller-manager-host",
		"overlays/karmada/host",
		"overlays/karmada/webhook",
		"overlays/karmada/webhook-host",
		"overlays/standalone",
		"overlays/standalone-cert-manager",
	}
}

// build renders one kustomization to the kinds that client-go knows; others
// are skipped.
func build(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	var objects []runtime.Object
	for _, r := range render(t, filepath.Join(root, dir)) {
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
			t.Errorf("%s: %s %s has a field that its kind has not: %v", dir, kind.Kind, r.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects
}

// render builds the kustomization of a folder to objects of any kind.
func render(t *testing.T, folder string) []*resource.Resource {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatalf("building %s: %v", folder, err)
	}
	return rendered.Resources()
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

func checkProbes(t *testing.T, d *appsv1.Deployment) {
	t.Helper()
	alive := map[string]string{"metrics-adapter": "/livez", "webhook": "/healthz", "controller-manager": "/healthz"}[d.Name]
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
	var all []*appsv1.Deployment
	for _, object := range build(t, dir) {
		if d, ok := object.(*appsv1.Deployment); ok {
			all = append(all, d)
		}
	}
	return all
}
