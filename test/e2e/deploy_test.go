// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// An API server accepts all that deploy/ holds for people to apply. Pods and
// certificates of it can not run here, so nothing is stored.
func TestManifestsAreAccepted(t *testing.T) {
	e := whole(t)
	e.kubectl(t, "create", "namespace", "karmada-cluster")
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "delete", "namespace", "karmada-cluster", "--wait=false") })
	e.knowCertManager(t)
	for _, folder := range e.kustomizations(t) {
		t.Run(strings.TrimPrefix(folder, e.Deploy("")), func(t *testing.T) {
			said := e.kubectl(t, "apply", "--dry-run=server", "--server-side", "--force-conflicts", "-k", folder)
			if said.Stdout == "" {
				t.Error("it holds no objects")
			}
			if said.Stderr != "" {
				t.Errorf("the API server warns: %s", said.Stderr)
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

// knowCertManager serves the two kinds of cert-manager that deploy/ uses, of any schema.
func (e *env) knowCertManager(t *testing.T) {
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
		if _, err := e.Feed(t.Context(), crd, "apply", "-f", "-"); err != nil {
			t.Fatal(err)
		}
		e.kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/"+plural+".cert-manager.io")
		t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "delete", "crd", plural+".cert-manager.io", "--wait=false") })
	}
}

// The program knows every flag that the manifests give it.
func TestManifestsGiveFlagsThatExist(t *testing.T) {
	e := whole(t)
	checked := 0
	for _, folder := range e.kustomizations(t) {
		said := e.kubectl(t, "create", "--dry-run=client", "-o", "json", "-k", folder)
		for decoder := json.NewDecoder(strings.NewReader(said.Stdout)); decoder.More(); {
			for _, d := range deployments(t, decoder) {
				args := append(d.Spec.Template.Spec.Containers[0].Args, "--help")
				if out, err := exec.CommandContext(t.Context(), e.Program, args...).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %v\n%.500s", folder, args, err, out)
				}
				checked++
			}
		}
	}
	if checked < 4 {
		t.Errorf("only %d Deployments found", checked)
	}
}

// deployments are those of the next object, which may be a List.
func deployments(t *testing.T, decoder *json.Decoder) []appsv1.Deployment {
	t.Helper()
	var object struct {
		appsv1.Deployment
		Items []appsv1.Deployment `json:"items"`
	}
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	var all []appsv1.Deployment
	for _, d := range append(object.Items, object.Deployment) {
		if d.Kind == "Deployment" {
			all = append(all, d)
		}
	}
	return all
}

// A member's registration made by deploy/kubeconfig.sh works, and allows what
// it is for and no more.
func TestKubeconfigScript(t *testing.T) {
	e := whole(t)
	script := exec.CommandContext(t.Context(), "sh", e.Deploy("kubeconfig.sh"), "fleetscale-member/fleetscale-read", "--context", "member1")
	script.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(), "PATH="+filepath.Join(e.Dir(), "bin")+":"+os.Getenv("PATH"))
	out, err := script.Output()
	if err != nil {
		t.Fatalf("kubeconfig.sh: %v: %v", err, script.Stderr)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"get namespace kube-system", "get podmetrics -A", "get nodemetrics",
		"auth can-i list pods.metrics.k8s.io -A", "auth can-i get anything.custom.metrics.k8s.io -A", "auth can-i list anything.external.metrics.k8s.io -A",
	} {
		e.kubectl(t, append([]string{"--kubeconfig", file}, strings.Fields(args)...)...)
	}
	for _, args := range []string{"get namespaces", "get pods -A", "get secrets -A", "auth can-i create pods", "auth can-i delete pods.metrics.k8s.io"} {
		if said, err := e.Ask(t.Context(), append([]string{"--kubeconfig", file}, strings.Fields(args)...)...); err == nil {
			t.Errorf("kubectl %s is allowed:\n%s", args, said.Stdout)
		}
	}
	e.register(t, "member1", out)
	e.recovers(t)
}
