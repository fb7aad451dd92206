// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// An API server accepts all that deploy/ holds for people to apply. Pods and
// certificates of it cannot run here, so nothing is stored. The cluster has no
// metrics APIs meanwhile: its APIServices and ours would be mixed.
func TestManifestsAreAccepted(t *testing.T) {
	t.Parallel()
	e := whole(t)
	member := e.cluster(t, "member1")
	e.kubectl(t, "--context", member.Name, "delete", "apiservice", "v1beta1.metrics.k8s.io")
	t.Cleanup(func() { registerMetricsServer(t, member) })
	e.withdraw(t, member.Name, testAPIs()...)
	for _, namespace := range []string{fixture.SystemNamespace, fixture.RegistrationNamespace, fixture.WriteNamespace, "karmada-cluster"} {
		e.kubectl(t, "--context", member.Name, "create", "namespace", namespace)
		t.Cleanup(func() {
			_, _ = e.Ask(afterwards(t), "--context", member.Name, "delete", "namespace", namespace, "--wait=false")
		})
	}
	e.knowCertManager(t, member)
	for _, folder := range e.kustomizations(t) {
		t.Run(strings.TrimPrefix(folder, e.Deploy("")+"/"), func(t *testing.T) {
			said := e.kubectl(t, "--context", member.Name, "apply", "--dry-run=server", "-k", folder)
			if said.Stdout == "" {
				t.Error("it holds no objects")
			}
			for line := range strings.Lines(said.Stderr) {
				// Of the namespaces made above, not of what is applied.
				if !strings.Contains(line, "missing the kubectl.kubernetes.io/last-applied-configuration") {
					t.Errorf("kubectl warns: %s", line)
				}
			}
		})
	}
}

// kustomizations are the folders that kubectl apply -k takes: not the components.
func (e *env) kustomizations(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(e.Deploy(""), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "kustomization.yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "kind: Kustomization") {
			all = append(all, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Fatalf("only %v found", all)
	}
	return all
}

// knowCertManager has a cluster serve the two kinds of cert-manager that deploy/
// uses, of any schema.
func (e *env) knowCertManager(t *testing.T, c *lab.Cluster) {
	t.Helper()
	for kind, plural := range map[string]string{"Issuer": "issuers", "Certificate": "certificates"} {
		crd := strings.NewReplacer("KIND", kind, "PLURAL", plural).Replace(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
		name := "crd/" + plural + ".cert-manager.io"
		if _, err := e.Feed(t.Context(), crd, "--context", c.Name, "apply", "-f", "-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "--context", c.Name, "delete", name, "--wait=false") })
		e.kubectl(t, "--context", c.Name, "wait", "--for=condition=Established", "--timeout=60s", name)
	}
}

// The program knows every flag that the manifests give it.
func TestManifestsGiveFlagsThatExist(t *testing.T) {
	t.Parallel()
	e := started(t)
	checked := 0
	for _, folder := range e.kustomizations(t) {
		for manifest := range strings.SplitSeq(e.kubectl(t, "kustomize", folder).Stdout, "\n---\n") {
			var d appsv1.Deployment
			if err := yaml.Unmarshal([]byte(manifest), &d); err != nil || d.Kind != "Deployment" || d.Name != "metrics-adapter" {
				continue
			}
			args := append(d.Spec.Template.Spec.Containers[0].Args, "--help")
			if out, err := exec.CommandContext(t.Context(), e.Program, args...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %v\n%.500s", folder, args, err, out)
			}
			checked++
		}
	}
	if checked < 3 {
		t.Errorf("only %d Deployments found", checked)
	}
}

// A member's registration made by deploy/kubeconfig.sh works, and allows what
// it is for and no more.
func TestKubeconfigScript(t *testing.T) {
	e := whole(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	made := e.script(t, "kubeconfig.sh", "fleetscale-member/fleetscale-read", "--context", "member1")
	if err := os.WriteFile(file, made, 0o600); err != nil {
		t.Fatal(err)
	}
	as := func(args string) (fixture.Said, error) {
		return e.Ask(t.Context(), append([]string{"--kubeconfig", file}, strings.Fields(args)...)...)
	}
	for _, args := range []string{"get namespace kube-system", "get podmetrics -A", "get nodemetrics"} {
		if _, err := as(args); err != nil {
			t.Error(err)
		}
	}
	for _, args := range []string{"get namespaces", "get pods -A", "get secrets -A", "auth can-i create pods",
		"auth can-i delete podmetrics"} {
		if said, err := as(args); err == nil {
			t.Errorf("kubectl %s is allowed:\n%s", args, said.Stdout)
		}
	}
	said, err := as("auth can-i --list --no-headers")
	if err != nil {
		t.Fatal(err)
	}
	for _, right := range []string{"*.custom.metrics.k8s.io [] [] [get list]", "*.external.metrics.k8s.io [] [] [get list]"} {
		if !slices.Contains(rows(said.Stdout), right) {
			t.Errorf("the rights lack %s:\n%s", right, said.Stdout)
		}
	}
	e.register(t, "member1", made)
	e.recovers(t)
}

// script runs a script of deploy/ with the lab's kubectl.
func (e *env) script(t *testing.T, name string, args ...string) (stdout []byte) {
	t.Helper()
	var stderr strings.Builder
	script := exec.CommandContext(t.Context(), "sh", append([]string{e.Deploy(name)}, args...)...)
	script.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(), "PATH="+filepath.Join(e.Dir(), "bin")+":"+os.Getenv("PATH"))
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, stderr.String())
	}
	return out
}
