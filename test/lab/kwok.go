// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/kwok/kustomize/crd"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podstage "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

var (
	//go:embed manifests/node-initialize.yaml
	nodeInitialize string
	//go:embed manifests/kubelet-metrics.yaml
	kubeletMetrics string
	//go:embed manifests/pod-ready.yaml
	podReady string
	//go:embed manifests/pod-resize-pending.yaml
	podResizePending string
	//go:embed manifests/pod-resize-start.yaml
	podResizeStart string
	//go:embed manifests/pod-resize-done.yaml
	podResizeDone string
)

const fakeNodeAnnotation = "kwok.x-k8s.io/node"

// fakeNodes starts kwok, which plays the nodes and their pods, and waits until
// the nodes are there, and their kubelets. kwok reads its resources once it is up, so they and the
// nodes are made first.
func (b *bringUp) fakeNodes(ctx context.Context) error {
	usage, err := usages{}.manifest()
	if err != nil {
		return err
	}
	err = b.apply(ctx,
		string(crd.Stage), string(crd.Metric), string(crd.ClusterResourceUsage),
		nodeInitialize, heartbeat.DefaultNodeHeartbeatWithLease,
		podReady, podstage.DefaultPodComplete, podstage.DefaultPodDelete,
		podResizePending, podResizeStart, podResizeDone,
		kubeletMetrics, usage)
	if err != nil {
		return err
	}
	if err := b.createNodes(ctx); err != nil {
		return err
	}
	args, err := b.kwokArgs()
	if err != nil {
		return err
	}
	if err := b.run(ctx, "kwok", local(b.ports.kwok, "/healthz"), args); err != nil {
		return err
	}
	return b.awaitKubelets(ctx)
}

// awaitKubelets waits until kwok says what its nodes use. On a busy machine it
// may read its Metric and not notice; it reads again whenever that changes.
func (b *bringUp) awaitKubelets(ctx context.Context) error {
	answers := HTTPReady(local(b.ports.kwok, kubeletPath(b.nodeName(0))))
	var last error
	asked := 0
	err := wait.PollUntilContextTimeout(ctx, applyInterval, apiTimeout, true, func(ctx context.Context) (bool, error) {
		if last = answers(ctx); last == nil {
			return true, nil
		}
		asked++
		const name = "\n  name: kubelet\n"
		return false, b.apply(ctx, strings.Replace(kubeletMetrics, name, fmt.Sprintf("%s  annotations: {asked: %q}\n", name, fmt.Sprint(asked)),
			1))
	})
	if err != nil {
		return fmt.Errorf("waiting for kwok to say what the nodes of %s use: %w (%w)", b.Name, err, last)
	}
	return nil
}

func (b *bringUp) nodeName(i int) string { return fmt.Sprintf("%s-node%d", b.Name, i+1) }

func kubeletPath(node string) string { return "/metrics/nodes/" + node + "/metrics/resource" }

func (b *bringUp) kwokArgs() ([]string, error) {
	const user = "kwok"
	kubeconfig, err := b.programKubeconfig(user, admins)
	if err != nil {
		return nil, err
	}
	serving, err := b.servingFlags(user, "localhost", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	return append(serving,
		"--kubeconfig="+kubeconfig,
		"--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector="+fakeNodeAnnotation+"=fake",
		// metrics-server takes the port of a node's kubelet from the node's
		// status, and kwok serves it where it serves all else.
		"--node-ip=127.0.0.1",
		fmt.Sprintf("--node-port=%d", b.ports.kwok),
		fmt.Sprintf("--server-address=127.0.0.1:%d", b.ports.kwok),
		"--cidr=10.101.0.1/16",
		"--enable-crds=Stage,Metric,ClusterResourceUsage",
		"--node-lease-duration-seconds=40",
		"--v=ERROR", // it warns at every scrape of a node without pods
	), nil
}

// servingFlags issues the serving certificate of a program and returns the
// flags that name it.
func (b *bringUp) servingFlags(program string, hosts ...string) ([]string, error) {
	pair, err := b.ServingCertificate(hosts...)
	if err != nil {
		return nil, err
	}
	certFile, keyFile, err := pair.Write(b.pkiDir(), program)
	return []string{"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile}, err
}

func (b *bringUp) createNodes(ctx context.Context) error {
	client, err := b.Client()
	if err != nil {
		return err
	}
	for i := range b.plan.nodes {
		node := fakeNode(b.nodeName(i), b.ports.kwok)
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating node %s: %w", node.Name, err)
		}
	}
	return nil
}

// fakeNode is complete from its birth, so that metrics-server's first scrape
// finds it.
func fakeNode(name string, kubeletPort int) *corev1.Node {
	size := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("5000"),
	}
	now := metav1.Now()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{"type": "kwok", corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
			Annotations: map[string]string{
				fakeNodeAnnotation:                     "fake",
				"metrics.k8s.io/resource-metrics-path": kubeletPath(name),
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    size,
			Allocatable: size,
			Phase:       corev1.NodeRunning,
			NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: "kwok", OperatingSystem: "linux"},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(kubeletPort)}},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}
}
