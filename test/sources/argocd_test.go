// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// argoCDCluster is the Secret that `argocd cluster add` makes.
const argoCDCluster = `
apiVersion: v1
kind: Secret
metadata:
  name: cluster-127.0.0.1-2347815
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: cluster}
  annotations: {managed-by: argocd.argoproj.io}
type: Opaque
stringData:
  name: east
  server: %s
  config: '%s'
`

// inCluster is the one of the cluster that Argo CD runs in, where a user has given it labels, and beside it a Secret that is none of a
// cluster.
const inCluster = `
apiVersion: v1
kind: Secret
metadata: {name: in-cluster, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster, tier: hub}}
stringData: {name: in-cluster, server: "https://kubernetes.default.svc", config: '{"tlsClientConfig":{"insecure":false}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: repository, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {url: "https://git.example.com/shop", password: s3cret}
`

func TestArgoCD(t *testing.T) {
	e := shared.Of(t)
	e.argoCD(t)
	e.hold(t, project{
		args:         []string{"--sources=secret,argocd"},
		registration: "argocd.cluster-127.0.0.1-2347815",
		manifest:     func(token string) string { return e.argoCDManifest(t, token) },
		object:       []string{"-n", "argocd", "secret/cluster-127.0.0.1-2347815"},
	})
}

// What is refused says so in an Event beside it, and what is no cluster Secret is not read.
func TestRefusedArgoCDCluster(t *testing.T) {
	e := shared.Of(t)
	e.argoCD(t)
	e.feed(t, inCluster)
	for account, access := range map[string]registration.Access{
		fixture.AdapterService: registration.Read, fixture.ControllersAccount: registration.Write,
	} {
		p := e.start(t, account, access, "--sources=argocd")
		p.registered(t, "argocd.in-cluster=MissingCredentials")
		memberstest.Eventually(t, "true", func() string {
			said, err := e.Ask(t.Context(), "-n", "argocd", "get", "events", "--field-selector=involvedObject.name=in-cluster,source="+account)
			return fmt.Sprint(err == nil && strings.Contains(said.Stdout, "MissingCredentials"))
		})
	}
	e.ask(t, "-n", "argocd", "delete", "secret", "in-cluster", "repository")
}

// argoCD gives the hub what Argo CD has there, and our programs their rights on it.
func (e *env) argoCD(t *testing.T) {
	t.Helper()
	e.feed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}")
	e.ask(t, "apply", "-f", e.Deploy("components/source-argocd/rbac.yaml"))
}

func (e *env) argoCDManifest(t *testing.T, token string) string {
	t.Helper()
	ca, err := e.member.CA()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"bearerToken": token, "tlsClientConfig": map[string]any{"insecure": false, "caData": ca}})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(argoCDCluster, e.member.URL, config)
}
