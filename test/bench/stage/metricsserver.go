// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

// MetricsServer starts a real metrics-server over one simulated member: its API
// server is the member, and so are its kubelets. It knows a Pod after two of
// its measurements.
func (s *Stage) MetricsServer(ctx context.Context, m *sim.Member) (*Server, error) {
	name := s.unique("metrics-server")
	kubeconfig, err := m.Kubeconfig()
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of %s: %w", m.Name(), err)
	}
	dir := filepath.Join(s.Dir(), "clusters", name)
	file := filepath.Join(dir, "kubeconfig")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, kubeconfig, 0o600)); err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of %s: %w", m.Name(), err)
	}
	ports, err := s.FreePorts(1)
	if err != nil {
		return nil, err
	}
	url := fmt.Sprintf("https://127.0.0.1:%d", ports[0])
	process, err := s.Run(ctx, lab.Program{
		Name: name, Path: filepath.Join(s.programs, "metrics-server"), Ready: lab.HTTPReady(url + "/livez"),
		Args: []string{
			"--kubeconfig=" + file, "--authentication-kubeconfig=" + file, "--authorization-kubeconfig=" + file,
			"--cert-dir=" + dir, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
			"--kubelet-insecure-tls", "--kubelet-preferred-address-types=InternalIP", "--kubelet-use-node-status-port",
			"--metric-resolution=15s",
		},
	})
	if err != nil {
		return nil, err
	}
	config := &rest.Config{Host: url, BearerToken: m.RESTConfig().BearerToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	server, err := NewServer(config, 0)
	if err == nil {
		err = server.belongsTo(process)
	}
	if err != nil {
		return nil, errors.Join(err, process.Stop())
	}
	return server, nil
}
