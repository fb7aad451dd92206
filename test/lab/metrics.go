// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"
)

const systemNamespace = metav1.NamespaceSystem

// metricsServer starts it, registers it, and waits until it knows every node:
// that takes two of its scrapes.
func (b *bringUp) metricsServer(ctx context.Context) error {
	const program = "metrics-server"
	identity, err := b.identity(program, admins)
	if err != nil {
		return err
	}
	serving, err := b.aggregatedFlags(program, b.ports.metricsServer)
	if err != nil {
		return err
	}
	args := append(append(identity, serving...),
		"--kubelet-insecure-tls",
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-use-node-status-port",
		"--kubelet-request-timeout=5s", // must be less than the resolution
		"--metric-resolution="+b.lab.state.MetricResolution.String(),
	)
	if err := b.run(ctx, program, local(b.ports.metricsServer, "/livez"), args); err != nil {
		return err
	}
	if err := b.registerAPIs(ctx, program, b.ports.metricsServer, "v1beta1.metrics.k8s.io"); err != nil {
		return err
	}
	return b.awaitNodeMetrics(ctx)
}

func (b *bringUp) testAdapter(ctx context.Context) error {
	const program = "test-adapter"
	kubeconfig, err := b.programKubeconfig(program, admins)
	if err != nil {
		return err
	}
	serving, err := b.aggregatedFlags(program, b.ports.testAdapter)
	if err != nil {
		return err
	}
	args := append(append(delegationFlags(kubeconfig), serving...),
		"--lister-kubeconfig="+kubeconfig,
		fmt.Sprintf("--values-address=127.0.0.1:%d", b.ports.values),
	)
	if err := b.run(ctx, program, local(b.ports.testAdapter, "/livez"), args); err != nil {
		return err
	}
	return b.registerAPIs(ctx, program, b.ports.testAdapter,
		"v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io", "v1beta1.external.metrics.k8s.io")
}

// aggregatedFlags returns those of a server behind the aggregation layer.
func (b *bringUp) aggregatedFlags(program string, port int) ([]string, error) {
	serving, err := b.servingFlags(program, program+"."+systemNamespace+".svc", "localhost", "127.0.0.1")
	return append(serving, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)), err
}

// registerAPIs registers APIs, each named VERSION.GROUP, of one program.
func (b *bringUp) registerAPIs(ctx context.Context, program string, port int, names ...string) error {
	ca, err := b.CA()
	if err != nil {
		return err
	}
	for _, name := range names {
		version, group, _ := strings.Cut(name, ".")
		api := API{Group: group, Version: version, Namespace: systemNamespace, Service: program, Port: port, CABundle: ca}
		if err := b.RegisterAPI(ctx, api); err != nil {
			return err
		}
	}
	return nil
}

// awaitNodeMetrics returns when the API server passes on the usage of every
// node, as "kubectl top nodes" would show it.
func (b *bringUp) awaitNodeMetrics(ctx context.Context) error {
	config, err := b.RESTConfig()
	if err != nil {
		return err
	}
	client, err := metrics.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", b.Name, err)
	}
	nodes := b.plan.nodes + b.plan.realNodes
	known, timeout := 0, startTimeout+2*b.lab.state.MetricResolution
	err = wait.PollUntilContextTimeout(ctx, 2*applyInterval, timeout, true, func(ctx context.Context) (bool, error) {
		list, err := client.MetricsV1beta1().NodeMetricses().List(ctx, metav1.ListOptions{})
		if err == nil {
			known = len(list.Items)
		}
		return known == nodes, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the metrics of %d nodes (%d came): %w; see %s",
			nodes, known, err, b.Process("metrics-server").Log)
	}
	return nil
}
