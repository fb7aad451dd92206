// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// clusterProfile is one as a cluster manager makes it; its status comes later.
const clusterProfile = `
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata: {name: east, namespace: inventory, labels: {x-k8s.io/cluster-manager: acme}}
spec: {displayName: East, clusterManager: {name: acme}}
`

// profileSecret is one with credentials.
const profileSecret = `
---
apiVersion: v1
kind: Secret
metadata: {name: %s, namespace: inventory}
data: {%s: %s}
`

var profileObject = []string{"-n", "inventory", "clusterprofiles.multicluster.x-k8s.io/east"}

// Open Cluster Management copies the tokens of ManagedServiceAccounts to the ClusterProfile.
func TestClusterProfileOfOpenClusterManagement(t *testing.T) {
	e := started(t)
	e.inventory(t)
	e.hold(t, project{
		args:         []string{"--sources=secret,clusterprofile", "--clusterprofile-namespaces=inventory"},
		registration: "clusterprofile.inventory.east",
		manifest: func(token string) string {
			encoded := base64.StdEncoding.EncodeToString([]byte(token))
			return clusterProfile + fmt.Sprintf(profileSecret, "east-fleetscale-read", "token", encoded) +
				fmt.Sprintf(profileSecret, "east-fleetscale-write", "token", encoded)
		},
		status: e.profileStatus(t, "open-cluster-management", map[string]any{"clusterName": "east"}),
		object: profileObject,
	})
}

// The other providers whose credentials are in Secrets.
func TestClusterProfileOfOtherProviders(t *testing.T) {
	e := started(t)
	e.inventory(t)
	token := e.account(t, "profiles")
	kubeconfig, err := e.member.TokenKubeconfig(token)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	for provider, tc := range map[string]struct {
		secret    string
		extension map[string]any
	}{
		"secretreader": {fmt.Sprintf(profileSecret, "east", "token", encode([]byte(token))), map[string]any{"clusterName": "east"}},
		"kubeconfig-secretreader": {
			fmt.Sprintf(profileSecret, "east-admin", "value", encode(kubeconfig)), map[string]any{"name": "east-admin", "key": "value"},
		},
	} {
		t.Run(provider, func(t *testing.T) {
			e.feed(t, clusterProfile+tc.secret)
			e.ask(t, append([]string{"patch", "--subresource=status", "--type=merge", "-p", e.profileStatus(t, provider, tc.extension)},
				profileObject...)...)
			p := e.start(t, fixture.AdapterService, registration.Read, "--sources=clusterprofile", "--clusterprofile-namespaces=inventory")
			p.registered(t, "clusterprofile.inventory.east=Ready")
			p.only(t)
			e.ask(t, append([]string{"delete"}, profileObject...)...)
			p.registered(t)
		})
	}
}

// inventory gives the hub the kind, and our programs their rights on it.
func (e *env) inventory(t *testing.T) {
	t.Helper()
	e.feed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: inventory}}")
	e.ask(t, "apply", "-f", "testdata/clusterprofile.yaml")
	e.ask(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/clusterprofiles.multicluster.x-k8s.io")
	e.ask(t, "apply", "-n", "inventory", "-k", e.Deploy("components/source-clusterprofile/rights"))
}

func (e *env) profileStatus(t *testing.T, provider string, extension map[string]any) string {
	t.Helper()
	ca, err := e.member.CA()
	if err != nil {
		t.Fatal(err)
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{"accessProviders": []any{map[string]any{
		"name": provider, "cluster": map[string]any{
			"server": e.member.URL, "certificate-authority-data": ca,
			"extensions": []any{map[string]any{"name": "client.authentication.k8s.io/exec", "extension": extension}},
		},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(status)
}
