// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// karmadaAPI is the kind of Karmada that registers clusters, of any schema.
const karmadaAPI = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.karmada.io}
spec:
  group: cluster.karmada.io
  scope: Cluster
  names: {kind: Cluster, plural: clusters}
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

const karmadaCluster = `
apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: karmada-cluster}
stringData: {token: "TOKEN", caBundle: CA}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: NAME}
spec: {syncMode: Push, apiEndpoint: "URL", secretRef: {namespace: karmada-cluster, name: NAME}}
`

// Karmada is installed on the hub while the adapter runs, and knows a cluster
// that no Secret registers. Nothing has to be switched on.
func TestKarmadaClusterJoins(t *testing.T) {
	e := whole(t)
	t.Cleanup(func() { e.forgetKarmada(t) })
	e.kubectl(t, "create", "namespace", "karmada-cluster")
	e.feed(t, karmadaAPI)
	e.kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/clusters.cluster.karmada.io")
	e.feed(t, e.rights(t, e.Deploy("overlays/karmada/control-plane")))

	e.leave(t, "member3")
	e.sees(t, "the cluster has left", shopPath, func(v view) error { return hasPods(v, "member1", "member2") })
	e.feed(t, e.karmadaManifest(t, "member3"))
	e.sees(t, "the cluster is Karmada's", shopPath, isWhole)
	registration := []string{`cluster="member3"`, `registration="karmada.member3"`, `reason="Ready"`}
	if _, found := metric(t, e.adapter, "fleetscale_cluster_registration_info", registration...); !found {
		t.Errorf("fleetscale_cluster_registration_info lacks %v", registration)
	}

	e.join(t, "member3")
	e.registered(t, "Karmada's registration stays in use, and the Secret is a spare", "secret.member3", "Duplicate")
	e.kubectl(t, "delete", "clusters.cluster.karmada.io/member3", "--wait=false")
	e.registered(t, "the spare takes over", "secret.member3", "Ready")
	e.recovers(t)
}

// registered waits until a registration has the reason.
func (e *env) registered(t *testing.T, what, registration, reason string) {
	t.Helper()
	labels := []string{fmt.Sprintf("registration=%q", registration), fmt.Sprintf("reason=%q", reason)}
	eventually(t, what, func(context.Context) error {
		if _, found := metric(t, e.adapter, "fleetscale_cluster_registration_info", labels...); !found {
			return fmt.Errorf("fleetscale_cluster_registration_info lacks %v", labels)
		}
		return nil
	})
}

func (e *env) feed(t *testing.T, manifests string) {
	t.Helper()
	if _, err := e.Feed(t.Context(), manifests, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// rights returns what a folder of deploy/ grants, without the rest of it.
func (e *env) rights(t *testing.T, folder string) string {
	t.Helper()
	var rights []string
	for manifest := range strings.SplitSeq(e.kubectl(t, "kustomize", folder).Stdout, "\n---\n") {
		if strings.Contains(manifest, "apiVersion: rbac.authorization.k8s.io/v1\n") {
			rights = append(rights, manifest)
		}
	}
	return strings.Join(rights, "\n---\n")
}

func (e *env) karmadaManifest(t *testing.T, name string) string {
	t.Helper()
	member := e.cluster(t, name)
	token, err := member.ServiceAccountToken(t.Context(), fixture.MemberNamespace, fixture.MemberAccount, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := member.CA()
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("NAME", name, "URL", member.URL, "TOKEN", token, "CA", fmt.Sprintf("%q", ca)).Replace(karmadaCluster)
}

func (e *env) forgetKarmada(t *testing.T) {
	for _, object := range []string{
		"clusters.cluster.karmada.io/member3", "crd/clusters.cluster.karmada.io", "namespace/karmada-cluster",
		"clusterrole/fleetscale-metrics-adapter-clusters", "clusterrolebinding/fleetscale-metrics-adapter-clusters",
	} {
		_, _ = e.Ask(afterwards(t), "delete", object, "--ignore-not-found", "--wait=false")
	}
}
