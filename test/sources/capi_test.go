// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// capiCluster is a Cluster with the Secret that Cluster API writes beside it, and one that it writes for people.
const capiCluster = `
apiVersion: cluster.x-k8s.io/%s
kind: Cluster
metadata: {name: east, namespace: prod}
spec:
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  controlPlaneRef: {kind: KubeadmControlPlane, name: east}
---
apiVersion: v1
kind: Secret
metadata: {name: east-kubeconfig, namespace: prod, labels: {cluster.x-k8s.io/cluster-name: east}}
type: cluster.x-k8s.io/secret
data: {value: %s}
---
apiVersion: v1
kind: Secret
metadata: {name: east-user-kubeconfig, namespace: prod, labels: {cluster.x-k8s.io/cluster-name: east}}
type: cluster.x-k8s.io/secret
data: {value: bm90IGZvciB1cw==}
`

func TestClusterAPI(t *testing.T) {
	e := shared.Of(t)
	e.capi(t)
	e.serveClusters(t, "v1beta2", "v1beta1")
	e.hold(t, project{
		args:         []string{"--sources=secret,capi", "--capi-namespaces=prod,empty"},
		registration: "capi.prod.east",
		manifest:     func(token string) string { return e.capiManifest(t, "v1beta2", token) },
		object:       []string{"-n", "prod", "clusters.cluster.x-k8s.io/east"},
	})
}

// Cluster API is upgraded from a version that serves v1beta1 only, and then to one that serves it no longer: nobody leaves.
func TestClusterAPIIsUpgraded(t *testing.T) {
	e := shared.Of(t)
	e.capi(t)
	e.serveClusters(t, "v1beta1")
	e.feed(t, e.capiManifest(t, "v1beta1", e.account(t, "capi")))
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "-n", "prod", "delete", "clusters.cluster.x-k8s.io/east") })
	p := e.start(t, fixture.ControllersAccount, registration.Write, "--sources=capi", "--capi-namespaces=prod")
	p.registered(t, "capi.prod.east=Ready")
	m := p.only(t)
	for _, versions := range [][]string{{"v1beta2", "v1beta1"}, {"v1beta2"}, {"v1beta1"}} {
		e.serveClusters(t, versions...)
		tier := strings.Join(versions, "-")
		e.ask(t, "-n", "prod", "label", "--overwrite", "clusters."+versions[0]+".cluster.x-k8s.io/east", "tier="+tier)
		memberstest.Eventually(t, tier, func() string {
			if got := p.only(t); got != m {
				t.Fatal("the cluster is another member")
			}
			return m.Labels()["tier"]
		})
	}
	p.registered(t, "capi.prod.east=Ready")
}

// capi gives our programs their rights on what Cluster API has on the hub.
func (e *env) capi(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{"prod", "empty"} {
		e.feed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
		e.ask(t, "apply", "-n", namespace, "-k", e.Deploy("components/source-capi/rights"))
	}
}

// serveClusters has the hub serve the kind Cluster in these versions only.
func (e *env) serveClusters(t *testing.T, versions ...string) {
	t.Helper()
	text, err := os.ReadFile("testdata/capi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(text)
	for _, version := range []string{"v1beta1", "v1beta2"} {
		if len(versions) == 1 && versions[0] != version {
			manifest = strings.Replace(manifest, "- name: "+version+"\n    served: true", "- name: "+version+"\n    served: false", 1)
		}
	}
	e.feed(t, manifest)
	for _, version := range versions {
		memberstest.Eventually(t, "served", func() string {
			if _, err := e.Ask(t.Context(), "get", "--raw", "/apis/cluster.x-k8s.io/"+version+"/clusters"); err != nil {
				return err.Error()
			}
			return "served"
		})
	}
}

func (e *env) capiManifest(t *testing.T, version, token string) string {
	t.Helper()
	kubeconfig, err := e.member.TokenKubeconfig(token)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(capiCluster, version, base64.StdEncoding.EncodeToString(kubeconfig))
}
