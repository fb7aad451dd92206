// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
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
	file, err := s.kubeconfig(m, name)
	if err != nil {
		return nil, err
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
			"--cert-dir=" + filepath.Dir(file), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
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
