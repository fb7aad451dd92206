// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// rancherCluster is a Cluster of Fleet with the Secret that it names, as Rancher makes them.
const rancherCluster = `
apiVersion: fleet.cattle.io/v1alpha1
kind: Cluster
metadata: {name: east, namespace: fleet-default, labels: {management.cattle.io/cluster-display-name: east}}
spec: {clientID: 5x9fm4, kubeConfigSecret: east-kubeconfig, kubeConfigSecretNamespace: fleet-default}
---
apiVersion: v1
kind: Secret
metadata: {name: east-kubeconfig, namespace: fleet-default}
data: {value: %s}
`

func TestRancher(t *testing.T) {
	e := shared.Of(t)
	for _, namespace := range []string{"fleet-default", "fleet-local"} {
		e.feed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
		e.ask(t, "apply", "-n", namespace, "-k", e.Deploy("components/source-rancher/rights"))
	}
	e.ask(t, "apply", "-f", "testdata/rancher.yaml")
	e.ask(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/clusters.fleet.cattle.io")
	e.hold(t, project{
		args:         []string{"--sources=secret,rancher", "--rancher-namespaces=fleet-default,fleet-local"},
		registration: "rancher.fleet-default.east",
		manifest: func(token string) string {
			kubeconfig, err := e.member.TokenKubeconfig(token)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(rancherCluster, base64.StdEncoding.EncodeToString(kubeconfig))
		},
		object: []string{"-n", "fleet-default", "clusters.fleet.cattle.io/east"},
	})
}
