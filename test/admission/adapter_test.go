// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// The metrics adapter signs its certificate in the same way: the hub verifies
// it, instead of not, and continues to while it is replaced.
func TestAdapterSignsItsOwnCertificate(t *testing.T) {
	e := hub(t)
	program, err := fixture.Build(t.Context(), "metrics-adapter", e.dir, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.InstallHub(t.Context(), e.Hub()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"secret.yaml", "rbac.yaml"} {
		e.kubectl(t, "apply", "-f", e.Deploy("../certs/self-signed/adapter/"+file))
	}
	port := e.runAdapter(t, program)
	plugin, err := e.Plugin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	takeover := exec.CommandContext(t.Context(), plugin, "takeover", "--kubeconfig="+e.Hub().Kubeconfig, "--apis=metrics.k8s.io",
		fmt.Sprintf("--service-port=%d", port))
	if out, err := takeover.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		_, _ = e.Ask(context.WithoutCancel(t.Context()), "delete", "apiservice", "v1beta1.metrics.k8s.io", "v1.metrics.k8s.io",
			"v1alpha1.members.fleetscale.io", "v1alpha1.history.fleetscale.io")
	})
	const api = "apiservice/v1beta1.metrics.k8s.io"
	await(t, func(ctx context.Context) error {
		said, err := e.Ask(ctx, "get", api, "-o", "jsonpath={.spec.insecureSkipTLSVerify}/{.spec.caBundle}")
		if err == nil && (len(said.Stdout) < 100 || said.Stdout[0] != '/') {
			err = errors.New("the hub does not verify: " + said.Stdout)
		}
		return err
	})
	e.kubectl(t, "wait", "--for=condition=Available", "--timeout=60s", api)

	if testing.Short() {
		e.kubectl(t, "get", "--raw", "/apis/metrics.k8s.io/v1beta1")
		return
	}
	before := leaf(t, port)
	await(t, func(context.Context) error {
		e.kubectl(t, "get", "--raw", "/apis/metrics.k8s.io/v1beta1")
		if leaf(t, port) == before {
			return errors.New("the certificate is the same")
		}
		return nil
	})
	for range 5 { // by connections of before, and new ones
		e.kubectl(t, "get", "--raw", "/apis/metrics.k8s.io/v1beta1")
		if said := e.kubectl(t, "get", api, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`); said.Stdout != "True" {
			t.Errorf("%s is available: %q", api, said.Stdout)
		}
	}
}

// runAdapter returns its port.
func (e *env) runAdapter(t *testing.T, program string) (port int) {
	t.Helper()
	ports, err := e.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := fixture.WriteKubeconfig(t.Context(), e.Hub(), fixture.AdapterService, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	process, err := e.Run(t.Context(), lab.Program{
		Name: "metrics-adapter", Path: program,
		Ready: lab.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/readyz", ports[0])),
		Args:  append(hasty(), "--kubeconfig="+kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0])),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			showLog(t, process.Log)
		}
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return ports[0]
}

// leaf is the serial number of the certificate that is served at a port.
func leaf(t *testing.T, port int) string {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}
