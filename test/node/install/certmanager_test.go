// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/test/lab"
)

// testCertManager has the real cert-manager, beside the nodes, issue the certificates of overlays/standalone-cert-manager.
func (s *stage) testCertManager(t *testing.T) {
	s.startCertManager(t)
	kinds, overlay := filepath.Join(s.root, "deploy/crds"), s.overlay(t, "deploy/overlays/standalone-cert-manager")
	s.leavesNothing(t, func() {
		s.kubectl(t, "apply", "--server-side", "-k", kinds)
		s.kubectl(t, "apply", "--server-side", "-k", overlay)
		s.kubectl(t, "-n", system, "wait", "--for=condition=Ready", "--timeout="+patience.String(), "certificate", "--all")
		authority := s.authority(t)
		t.Run("cainjector tells the hub the authority", func(t *testing.T) { s.testTrust(t, authority) })
		s.works(t, func() {
			t.Run("certificates are renewed", func(t *testing.T) { s.testRenewal(t, authority, s.renewByCertManager) })
		})
		s.kubectl(t, "delete", "--ignore-not-found", "-k", overlay)
		s.kubectl(t, "delete", "-k", kinds)
	})
}

// startCertManager runs it until the test ends, and takes its kinds away then.
func (s *stage) startCertManager(t *testing.T) {
	t.Helper()
	program, kinds, err := lab.BuildCertManager(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "apply", "--server-side", "-f", kinds)
	s.kubectl(t, "wait", "--for=condition=Established", "-f", kinds)
	ports, err := s.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	p, err := s.Run(t.Context(), lab.Program{
		Name: "cert-manager", Path: program, Ready: lab.HTTPReady("http://" + address + "/readyz"),
		Args: []string{"--kubeconfig=" + s.Hub().Kubeconfig, "--health-probe-bind-address=" + address},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := s.try(context.WithoutCancel(t.Context()), "", "delete", "-f", kinds); err != nil {
			t.Error(err)
		}
	})
}

// authority is the certificate of that which cert-manager has made, PEM.
func (s *stage) authority(t *testing.T) []byte {
	t.Helper()
	var secret corev1.Secret
	s.read(t, &secret, "-n", system, "get", "secret", "fleetscale-ca")
	return secret.Data[corev1.TLSCertKey]
}

// renewByCertManager does what `cmctl renew` does.
func (s *stage) renewByCertManager(t *testing.T, program string) {
	t.Helper()
	issuing := fmt.Sprintf(`[{"op": "add", "path": "/status/conditions/-", "value": {"type": "Issuing", "status": "True",
		"reason": "ManuallyTriggered", "message": "A test wants another", "lastTransitionTime": %q}}]`, time.Now().UTC().Format(time.RFC3339))
	s.kubectl(t, "-n", system, "patch", "certificate", program, "--subresource=status", "--type=json", "--patch="+issuing)
}
