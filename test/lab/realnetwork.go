// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

const (
	// insideAddress is that of API servers and metrics-servers in networks of real nodes. Commands machine and this must agree.
	insideAddress = "192.0.2.1"
	podRange      = "10.102.0.0/16"
	networkName   = "network"
)

// InsideURL is where Pods of real nodes reach the kube-apiserver, https. Nodes do that were not started before the cluster.
func (c *Cluster) InsideURL() string { return inside(c.URL) }

// InsideMetricsServerURL is where Pods of real nodes that started with the cluster reach its metrics-server, https.
func (c *Cluster) InsideMetricsServerURL() string { return inside(c.MetricsServerURL) }

func inside(at string) string { return strings.Replace(at, "127.0.0.1", insideAddress, 1) }

// apiServerPorts are those of all clusters that are up.
func (l *Lab) apiServerPorts() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []int
	for _, c := range l.clusters {
		if at, err := url.Parse(c.URL); err == nil {
			if port, err := strconv.Atoi(at.Port()); err == nil {
				all = append(all, port)
			}
		}
	}
	return all
}

func (c *Cluster) networkSocket() string { return filepath.Join(c.dir(), "network.sock") }

// egressFlags have the API server ask for connections to Pods and Services where these are.
func (b *bringUp) egressFlags() ([]string, error) {
	if b.plan.realNodes == 0 {
		return nil, nil
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.k8s.io/v1beta1",
		"kind":       "EgressSelectorConfiguration",
		"egressSelections": []any{map[string]any{
			"name": "cluster",
			"connection": map[string]any{
				"proxyProtocol": "HTTPConnect",
				"transport":     map[string]any{"uds": map[string]any{"udsName": b.networkSocket()}},
			},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of egress: %w", err)
	}
	path := filepath.Join(b.dir(), "egress.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return nil, fmt.Errorf("writing the configuration of egress: %w", err)
	}
	return []string{"--egress-selector-config-file=" + path}, nil
}

// network starts what holds the network of the nodes, and returns its process.
func (b *bringUp) network(ctx context.Context, client kubernetes.Interface) (pid int, err error) {
	ports := make([]string, len(b.reached))
	for i, port := range b.reached {
		ports[i] = strconv.Itoa(port)
	}
	p, err := b.lab.Run(ctx, Program{
		Name: b.processName(networkName),
		Path: filepath.Join(b.nodePrograms, "machine"),
		Args: []string{networkName, "--socket=" + b.networkSocket(), "--services=" + serviceRange, "--ports=" + strings.Join(ports, ",")},
		Ready: func(ctx context.Context) error {
			conn, err := new(net.Dialer).DialContext(ctx, "unix", b.networkSocket())
			if err != nil {
				return err
			}
			return conn.Close()
		},
	})
	if err != nil {
		return 0, err
	}
	if err := b.publish(ctx, client); err != nil {
		return 0, err
	}
	_, pid, err = p.State()
	return pid, err
}

// publish says where the Service kubernetes leads. An API server does not say it of itself that it is at a loopback address.
func (b *bringUp) publish(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{insideAddress}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
		Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(b.ports.apiServer))}},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("publishing the API server of %s: %w", b.Name, err)
	}
	return nil
}

// serviceProxy starts kube-proxy as that of one of the nodes, which is that of all, and returns when Services work.
func (b *bringUp) serviceProxy(ctx context.Context, network int, node string) error {
	kubeconfig, err := b.programKubeconfig("system:kube-proxy")
	if err != nil {
		return err
	}
	_, err = b.lab.Run(ctx, Program{
		Name: b.processName("kube-proxy"),
		Path: filepath.Join(b.nodePrograms, "machine"),
		Args: []string{
			"enter", strconv.Itoa(network), filepath.Join(b.nodePrograms, "kube-proxy"),
			"--kubeconfig=" + kubeconfig,
			"--hostname-override=" + node,
			"--proxy-mode=nftables",
			"--cluster-cidr=" + podRange,
			// These limits belong to the whole machine.
			"--conntrack-max-per-core=0", "--conntrack-min=0",
			"--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s",
		},
		Ready: b.servicesWork,
	})
	return err
}

// servicesWork connects to the Service kubernetes.
func (b *bringUp) servicesWork(ctx context.Context) error {
	conn, err := b.DialInside(ctx, "10.0.0.1:443")
	if err != nil {
		return err
	}
	return conn.Close()
}

// DialInside connects to a Pod of a real node, or to a Service, by IP address and port, as the API server does.
func (c *Cluster) DialInside(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.networkSocket())
	if err != nil {
		return nil, err
	}
	if err := connect(ctx, conn, address); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %s in %s: %w", address, c.Name, err), conn.Close())
	}
	return conn, nil
}

// connect asks for a connection, of which nobody says anything before we do.
func connect(ctx context.Context, conn net.Conn, address string) error {
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", address); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}
