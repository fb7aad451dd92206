// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Program is one of those that work for a simulated member as their hub, or as their cluster: a process of its own.
type Program struct {
	*Server

	// Debug is where /debug/pprof is.
	Debug string
}

// Heap returns what is in use of its heap after a garbage collection, in bytes.
func (p *Program) Heap(ctx context.Context) (float64, error) { return p.heap(ctx, p.Debug) }

// Freeze has it stand still, with its connections open, until Thaw.
func (p *Program) Freeze() error { return p.process.Freeze() }

// Thaw has it go on.
func (p *Program) Thaw() error { return p.process.Thaw() }

// Sum adds up the series of a metric of the program's own that have a label, as in error="none".
func (p *Program) Sum(ctx context.Context, name, label string) (float64, error) {
	_, body, err := p.get(ctx, p.URL+"/metrics", "text/plain")
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", name, err)
	}
	sum, _, err := fixture.Sum(string(body), name, label)
	return sum, err
}

// AdapterFor starts the metrics adapter for a simulated hub, with its default
// options and these, and has the hub pass all metrics APIs, and that of members, on to it.
func (s *Stage) AdapterFor(ctx context.Context, hub *sim.Member, args ...string) (*Program, error) {
	authority := filepath.Join(s.Dir(), "clusters", hub.Name()+".crt") // of clients' certificates, which nobody has
	if err := errors.Join(os.MkdirAll(filepath.Dir(authority), 0o755), os.WriteFile(authority, hub.Authority(), 0o600)); err != nil {
		return nil, fmt.Errorf("writing the authority of %s: %w", hub.Name(), err)
	}
	_, serving, err := s.serving(hub, fixture.AdapterService)
	if err != nil {
		return nil, err
	}
	p, err := s.start(ctx, hub, starting{
		name: "adapter", folder: "adapter", path: s.Program, ready: "/readyz", secure: true,
		args: func(kubeconfig string, ports []int) []string {
			return append([]string{
				"--kubeconfig=" + kubeconfig, "--client-ca-file=" + authority, "--allow-local-members",
				"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
			}, append(serving, args...)...)
		},
	})
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	for _, group := range []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io", "members.fleetscale.io",
		"history.fleetscale.io"} {
		hub.Delegate(group, passingOn(to, p.Client))
	}
	return p, nil
}

// passingOn asks another server with the credentials of who asks.
func passingOn(to *url.URL, by http.RoundTripper) http.Handler {
	return &httputil.ReverseProxy{
		Transport: by, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), // of clients that go away
	}
}

// ControllersFor starts the controller-manager for a simulated hub, without leader election, with its default options and these.
func (s *Stage) ControllersFor(ctx context.Context, hub *sim.Member, log io.Writer, args ...string) (*Program, error) {
	if s.controllers == "" {
		var err error
		if s.controllers, err = fixture.Build(ctx, "controller-manager", s.Dir(), log); err != nil {
			return nil, err
		}
	}
	return s.start(ctx, hub, starting{
		name: "controllers", folder: "controller-manager", path: s.controllers, ready: "/metrics",
		args: func(kubeconfig string, ports []int) []string {
			return append([]string{
				"--kubeconfig=" + kubeconfig, "--allow-local-members", "--write-namespace=" + fixture.RegistrationNamespace,
				"--leader-elect=false", "--health-probe-bind-address=0",
				fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[0]), fmt.Sprintf("--profiling-bind-address=127.0.0.1:%d", ports[1]),
			}, args...)
		},
	})
}

// UpstreamFor starts Kubernetes' own controller of HorizontalPodAutoscalers for
// a simulated cluster, without leader election, with its default options and these.
func (s *Stage) UpstreamFor(ctx context.Context, cluster *sim.Member, args ...string) (*Program, error) {
	return s.start(ctx, cluster, starting{
		name: "kube-controller-manager", path: filepath.Join(s.programs, "kube-controller-manager"), ready: "/healthz", secure: true,
		args: func(kubeconfig string, ports []int) []string {
			return append([]string{
				"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
				"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
				"--leader-elect=false", "--controllers=horizontal-pod-autoscaler-controller",
			}, args...)
		},
	})
}

// starting is a program to be started.
type starting struct {
	name, path string
	// folder of deploy/base, of a program of ours.
	folder string
	// ready is a path of its own that answers with 200.
	ready string
	// secure programs serve all on one port, by TLS; others metrics on the first, and profiles on the second.
	secure bool
	args   func(kubeconfig string, ports []int) []string
}

func (s *Stage) start(ctx context.Context, cluster *sim.Member, o starting) (*Program, error) {
	name := s.unique(o.name)
	kubeconfig, err := s.kubeconfig(cluster, name)
	if err != nil {
		return nil, err
	}
	ports, err := s.FreePorts(2)
	if err != nil {
		return nil, err
	}
	at, debug := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if o.secure {
		at = fmt.Sprintf("https://127.0.0.1:%d", ports[0])
		debug = at
	}
	var env []string
	if s.deployed && o.folder != "" {
		d, err := s.Deployment(o.folder)
		if err != nil {
			return nil, err
		}
		env = d.Env
	}
	process, err := s.Run(ctx, lab.Program{Name: name, Path: o.path, Args: o.args(kubeconfig, ports), Env: env,
		Ready: lab.HTTPReady(at + o.ready)})
	if err != nil {
		return nil, err
	}
	config := &rest.Config{Host: at}
	if o.secure {
		config.BearerToken, config.TLSClientConfig = cluster.RESTConfig().BearerToken, rest.TLSClientConfig{Insecure: true}
	}
	server, err := NewServer(config, 0)
	if err == nil {
		err = server.belongsTo(process)
	}
	if err != nil {
		return nil, errors.Join(err, process.Stop())
	}
	return &Program{server, debug}, nil
}

// kubeconfig writes the file by which a program reaches a simulated cluster.
func (s *Stage) kubeconfig(cluster *sim.Member, program string) (file string, err error) {
	kubeconfig, err := cluster.Kubeconfig()
	if err == nil {
		dir := filepath.Join(s.Dir(), "clusters", program)
		file = filepath.Join(dir, "kubeconfig")
		err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, kubeconfig, 0o600))
	}
	if err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", cluster.Name(), err)
	}
	return file, nil
}
