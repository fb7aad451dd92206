// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// BurnImage is an image that real nodes have. Its program uses CPU and memory: --cpu in thousandths of a core, --memory in MiB,
// --after some time, such as 5s.
const BurnImage = "fleetscale.test/burn:1"

// nodePrograms is the folder of the programs of real nodes, if there are to be some. They are built if need be.
func (p plan) nodePrograms(ctx context.Context, log io.Writer) (string, error) {
	if p.realNodes == 0 {
		return "", nil
	}
	if reason := RealNodesPossible(); reason != "" {
		return "", fmt.Errorf("this machine can have no real nodes: %s", reason)
	}
	return BuildNodes(ctx, log)
}

// realNodeNames are also those of their processes.
func (b *bringUp) realNodeNames() []string {
	names := make([]string, b.plan.realNodes)
	for i := range names {
		names[i] = b.nodeName(b.plan.nodes + i)
	}
	return names
}

// realNodes starts nodes in a network of their own.
func (b *bringUp) realNodes(ctx context.Context) error {
	client, err := b.Client()
	if err != nil {
		return err
	}
	network, err := b.network(ctx, client)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range b.realNodeNames() {
		group.Go(func() error { return b.realNode(ctx, client, network, i+1, name) })
	}
	group.Go(func() error { return b.serviceProxy(ctx, network, b.realNodeNames()[0]) })
	return group.Wait()
}

// realNode starts a node with a kubelet and containerd of its own, and returns when it is ready.
func (b *bringUp) realNode(ctx context.Context, client kubernetes.Interface, network, number int, name string) error {
	free, err := b.lab.FreePorts(1)
	if err != nil {
		return err
	}
	port := free[0]
	if _, err := client.CoreV1().Nodes().Create(ctx, realNodeAt(name), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating node %s: %w", name, err)
	}
	args, err := b.machineArgs(network, number, name, port)
	if err != nil {
		return err
	}
	_, err = b.lab.Run(ctx, Program{
		Name: name,
		Path: filepath.Join(b.nodePrograms, "machine"),
		Args: args,
		Ready: func(ctx context.Context) error {
			node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return usable(node)
		},
	})
	return err
}

// realNodeAt is the node as it is before its kubelet registers, which leaves the addresses as they are.
func realNodeAt(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
			{Type: corev1.NodeHostName, Address: name},
		}},
	}
}

func usable(node *corev1.Node) error {
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %s has the taint %s", node.Name, node.Spec.Taints[0].ToString())
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not ready", node.Name)
}

func (b *bringUp) machineArgs(network, number int, name string, port int) ([]string, error) {
	user := "system:node:" + name
	kubeconfig, err := b.programKubeconfig(user, "system:nodes")
	if err != nil {
		return nil, err
	}
	config, err := b.kubeletConfig(name, port)
	if err != nil {
		return nil, err
	}
	plugins, err := networkPlugins()
	args := []string{
		"run",
		"--name=" + name,
		fmt.Sprintf("--network=%d", network),
		fmt.Sprintf("--number=%d", number),
		"--programs=" + b.nodePrograms,
		"--cni-plugins=" + plugins,
		"--kubelet-config=" + config,
		"--kubeconfig=" + kubeconfig,
		fmt.Sprintf("--kubelet-port=%d", port),
	}
	for _, file := range b.plan.images {
		args = append(args, "--image="+file)
	}
	return args, err
}

// kubeletConfig writes the configuration file of a kubelet.
func (b *bringUp) kubeletConfig(name string, port int) (path string, err error) {
	pair, err := b.ServingCertificate(name, "localhost", "127.0.0.1")
	if err != nil {
		return "", err
	}
	certFile, keyFile, err := pair.Write(b.pkiDir(), name)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion":                "kubelet.config.k8s.io/v1beta1",
		"kind":                      "KubeletConfiguration",
		"address":                   "127.0.0.1",
		"port":                      port,
		"healthzPort":               0,
		"tlsCertFile":               certFile,
		"tlsPrivateKeyFile":         keyFile,
		"authentication":            map[string]any{"x509": map[string]any{"clientCAFile": filepath.Join(b.pkiDir(), authorityName+".crt")}},
		"containerRuntimeEndpoint":  "unix:///run/containerd/containerd.sock",
		"cgroupDriver":              "cgroupfs",
		"failCgroupV1":              false,
		"protectKernelDefaults":     true, // it would set them, for the whole machine
		"resolvConf":                "",
		"volumePluginDir":           "/run/kubelet/volume-plugins",
		"nodeStatusUpdateFrequency": "4s",
		"syncFrequency":             "10s", // for so long a Pod may have a Secret as it was
		// What the disk of the machine holds is no concern of a node in memory.
		"evictionHard":                map[string]string{"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
		"imageGCHighThresholdPercent": 100,
		"imageGCLowThresholdPercent":  99,
	})
	if err != nil {
		return "", fmt.Errorf("encoding the configuration of %s: %w", name, err)
	}
	path = filepath.Join(b.dir(), name+".kubelet.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return "", fmt.Errorf("writing the configuration of %s: %w", name, err)
	}
	return path, nil
}

// networkPlugins finds the folder of the CNI plugins of a machine, where distributions have it.
func networkPlugins() (string, error) {
	places := []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
	for _, dir := range places {
		if !slices.ContainsFunc([]string{"ptp", "host-local", "loopback"}, func(plugin string) bool {
			_, err := os.Stat(filepath.Join(dir, plugin))
			return err != nil
		}) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the CNI plugins are in none of %s", strings.Join(places, ", "))
}
