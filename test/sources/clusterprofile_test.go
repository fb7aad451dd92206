// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
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
	e := shared.Of(t)
	e.inventory(t)
	e.hold(t, project{
		args:         []string{"--sources=secret,clusterprofile", "--clusterprofile-namespaces=inventory"},
		registration: "clusterprofile.inventory.east",
		manifest: func(token string) string {
			encoded := base64.StdEncoding.EncodeToString([]byte(token))
			return clusterProfile + fmt.Sprintf(profileSecret, "east-fleetscale-read", "token", encoded) +
				fmt.Sprintf(profileSecret, "east-fleetscale-write", "token", encoded)
		},
		status: profileStatus(t, "open-cluster-management", map[string]any{"clusterName": "east"}, e.member.URL, e.ca(t)),
		object: profileObject,
	})
}

// Clusters that only their agents reach are behind paths of its cluster-proxy. While that does not know one, the cluster is silent, and not
// taken to have nothing.
func TestClusterProfileBehindClusterProxy(t *testing.T) {
	e := shared.Of(t)
	e.inventory(t)
	e.runs(t, "web-0")
	token := base64.StdEncoding.EncodeToString([]byte(e.account(t, "proxied")))
	proxy := e.clusterProxy(t)
	args := []string{"--sources=clusterprofile", "--clusterprofile-namespaces=inventory"}
	reads := e.start(t, fixture.AdapterService, registration.Read, args...)
	writes := e.start(t, fixture.ControllersAccount, registration.Write, args...)
	e.feed(t, clusterProfile+fmt.Sprintf(profileSecret, "east-fleetscale-read", "token", token)+
		fmt.Sprintf(profileSecret, "east-fleetscale-write", "token", token))
	status := profileStatus(t, "open-cluster-management", map[string]any{"clusterName": "east"}, proxy.URL+"/east", proxy.authority())
	e.ask(t, append([]string{"patch", "--subresource=status", "--type=merge", "-p", status}, profileObject...)...)
	for _, program := range []*program{reads, writes} {
		program.registered(t, "clusterprofile.inventory.east=Ready")
	}
	m := writes.only(t)
	memberstest.Eventually(t, "web-0", func() string { return writes.runs(t, m) })

	proxy.lost.Store(true)
	for _, program := range []*program{reads, writes} {
		program.registered(t, "clusterprofile.inventory.east=Unreachable")
	}
	proxy.lost.Store(false)
	for _, program := range []*program{reads, writes} {
		program.registered(t, "clusterprofile.inventory.east=Ready")
	}
	e.ask(t, append([]string{"delete"}, profileObject...)...)
	writes.registered(t)
}

// clusterProxy passes on what is below /east to the member, as that of Open Cluster Management does through an agent's tunnel.
type clusterProxy struct {
	*httptest.Server

	lost atomic.Bool // the agent is
}

func (e *env) clusterProxy(t *testing.T) *clusterProxy {
	t.Helper()
	config, err := e.member.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	anonymous, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	member, err := url.Parse(e.member.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &clusterProxy{}
	east := http.StripPrefix("/east", &httputil.ReverseProxy{
		Transport: anonymous, FlushInterval: -1, // watches
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(member) },
	})
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.lost.Load() {
			http.NotFound(w, r)
			return
		}
		east.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections() // of watches
		p.Close()
	})
	return p
}

func (p *clusterProxy) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
}

// The other providers whose credentials are in Secrets.
func TestClusterProfileOfOtherProviders(t *testing.T) {
	e := shared.Of(t)
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
			status := profileStatus(t, provider, tc.extension, e.member.URL, e.ca(t))
			e.ask(t, append([]string{"patch", "--subresource=status", "--type=merge", "-p", status}, profileObject...)...)
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

func (e *env) ca(t *testing.T) []byte {
	t.Helper()
	ca, err := e.member.CA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func profileStatus(t *testing.T, provider string, extension map[string]any, server string, ca []byte) string {
	t.Helper()
	status, err := json.Marshal(map[string]any{"status": map[string]any{"accessProviders": []any{map[string]any{
		"name": provider, "cluster": map[string]any{
			"server": server, "certificate-authority-data": ca,
			"extensions": []any{map[string]any{"name": "client.authentication.k8s.io/exec", "extension": extension}},
		},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(status)
}
