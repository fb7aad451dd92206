// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/test/lab"
)

// TestHubWithAMetricsServer has two clusters with kubelets, and a metrics-server each: a hub that is a member of its own fleet, and
// another. docs/install.md says how the hub's metrics-server is taken over.
func TestHubWithAMetricsServer(t *testing.T) {
	s := setUp(t, lab.Hub{RealNodes: 1}, member)
	s.nameMetricsServer(t)
	kinds, overlay := filepath.Join(s.root, "deploy/crds"), s.overlay(t, "deploy/overlays/beside-metrics-server", names())
	s.leavesNothing(t, func() {
		s.kubectl(t, "-n", shop, "run", "web", "--image="+lab.BurnImage, "--", "--cpu=20")
		s.kubectl(t, "apply", "--server-side", "-k", kinds)
		s.kubectl(t, "apply", "--server-side", "-k", overlay)
		s.kubectl(t, "-n", system, "create", "configmap", "hub-metrics-server-ca", "--from-literal=ca.crt="+s.metricsAuthority(t))
		t.Run("Pods are ready", s.testReady)
		s.kubectl(t, "fleetscale", "join", "hub", "--context", "hub", "--hub-context", "hub", "--hub-too",
			"--server", "https://kubernetes.default.svc")
		s.kubectl(t, "wait", "--for=jsonpath={.status.state}=Ready", "--timeout="+patience.String(), "member/hub")
		t.Log(s.kubectl(t, "fleetscale", "takeover", "--context", "hub"))
		t.Run("a member joins, and a workload there is scaled", s.testScaled)
		s.await(t, contains("web ", "worker-"), "top", "pods", "-n", shop)
		s.await(t, contains("hub", member), "get", "podmetrics", "-n", shop)

		s.kubectl(t, "-n", shop, "delete", "federatedhpa", "worker")
		s.leave(t, member)
		t.Log(s.kubectl(t, "fleetscale", "restore", "--context", "hub"))
		s.kubectl(t, "fleetscale", "leave", "hub", "--context", "hub", "--yes")
		s.await(t, contains("web "), "top", "pods", "-n", shop)
		s.kubectl(t, "delete", "--ignore-not-found", "-k", overlay)
		s.kubectl(t, "delete", "-k", kinds)
		s.kubectl(t, "-n", shop, "delete", "pod", "web")
	})
}

// metricsServiceIP is in the range of Services.
const metricsServiceIP = "10.0.0.99"

// names are what a cluster's DNS would tell, which nodes of the lab lack.
func names() string {
	return `patches:
- target: {kind: Deployment}
  patch: |
    - op: add
      path: /spec/template/spec/hostAliases
      value:
      - {ip: 10.0.0.1, hostnames: [kubernetes.default.svc]}
      - {ip: ` + metricsServiceIP + `, hostnames: [metrics-server.kube-system.svc]}`
}

// nameMetricsServer makes a Service of the hub's metrics-server, which runs beside the node.
func (s *stage) nameMetricsServer(t *testing.T) {
	t.Helper()
	at, err := url.Parse(s.Hub().InsideMetricsServerURL())
	if err != nil {
		t.Fatal(err)
	}
	s.feed(t, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: kube-system}
spec: {clusterIP: %s, ports: [{port: 443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: metrics, namespace: kube-system, labels: {kubernetes.io/service-name: metrics}}
addressType: IPv4
endpoints: [{addresses: [%s], conditions: {ready: true}}]
ports: [{port: %s}]
`, metricsServiceIP, at.Hostname(), at.Port()), "apply", "-f", "-")
}

// metricsAuthority verifies the hub's metrics-server, PEM.
func (s *stage) metricsAuthority(t *testing.T) string {
	t.Helper()
	var api apiregistrationv1.APIService
	s.read(t, &api, "get", "apiservice", "v1beta1.metrics.k8s.io")
	return string(api.Spec.CABundle)
}
