// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is the hub or a member.
type Cluster struct {
	// Name is also that of its context in the lab's kubeconfig.
	Name string
	// URL is its kube-apiserver, https.
	URL string
	// Kubeconfig is a file with the rights of cluster-admin.
	Kubeconfig string
	// MetricsServerURL is its metrics-server itself, past the API server, https.
	// The certificate holds localhost, 127.0.0.1 and
	// metrics-server.kube-system.svc. Empty without a metrics-server.
	MetricsServerURL string
	// TestAdapterURL is its custom and external metrics adapter itself, past the
	// API server, https. The certificate holds localhost, 127.0.0.1 and
	// test-adapter.kube-system.svc. Empty without a test-adapter.
	TestAdapterURL string
	// ValuesURL is where the values of its custom and external metrics are set,
	// http. Empty without a test-adapter.
	ValuesURL string

	lab *Lab
}

// RESTConfig connects to the cluster with the rights of cluster-admin.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", c.Name, err)
	}
	config.QPS = -1 // who waits for a turn near a deadline gets an error that tells nothing
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// Client connects with the rights of cluster-admin, as [Cluster.RESTConfig].
func (c *Cluster) Client() (kubernetes.Interface, error) { return clientOf(c, kubernetes.NewForConfig) }

// Dynamic connects as Client does.
func (c *Cluster) Dynamic() (dynamic.Interface, error) { return clientOf(c, dynamic.NewForConfig) }

func clientOf[C any](c *Cluster, as func(*rest.Config) (C, error)) (client C, err error) {
	config, err := c.RESTConfig()
	if err != nil {
		return client, err
	}
	if client, err = as(config); err != nil {
		return client, fmt.Errorf("connecting to %s: %w", c.Name, err)
	}
	return client, nil
}

// Process returns one of the cluster's programs, such as metrics-server.
func (c *Cluster) Process(program string) *Process {
	return c.lab.process(c.processName(program), nil)
}

func (c *Cluster) processName(program string) string { return c.Name + "-" + program }

func (c *Cluster) apiServer() *Process {
	server := c.Process("kube-apiserver")
	server.ready = c.ready()
	return server
}

func (c *Cluster) ready() func(context.Context) error { return HTTPReady(c.URL + "/readyz") }

// Freeze makes the kube-apiserver stand still: it answers nothing, and keeps
// its connections open.
func (c *Cluster) Freeze() error { return c.apiServer().Freeze() }

// Thaw undoes Freeze.
func (c *Cluster) Thaw() error { return c.apiServer().Thaw() }

// Stop ends the kube-apiserver at once. Its connections break, and new ones
// are refused. Everything else of the cluster continues.
func (c *Cluster) Stop() error { return c.apiServer().Kill() }

// Start undoes Stop: same port, same data. It returns when the kube-apiserver
// answers; metrics follow within two metric resolutions.
func (c *Cluster) Start(ctx context.Context) error { return c.apiServer().Start(ctx) }

func (c *Cluster) dir() string { return filepath.Join(c.lab.dir, "clusters", c.Name) }
