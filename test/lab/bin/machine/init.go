// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/cgroup"
	"github.com/fleetscale/fleetscale/test/lab/internal/image"
)

// What is in the node's own /run.
const (
	containerdSocket = "/run/containerd/containerd.sock"
	containerdConfig = "/run/containerd.toml"
	networksDir      = "/run/cni"
	imagesDir        = "/run/images"
	kubeletDir       = "/run/kubelet"
)

// initialize is the first process of a node. It returns when one of the node's programs has ended, and with it the node.
func initialize(ctx context.Context, o options) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // see inNode
		return err
	}
	hierarchies, err := cgroup.Hierarchies() // before its mounts are hidden
	if err != nil {
		return err
	}
	if err := mountOwn(hierarchies); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(o.name)); err != nil {
		return fmt.Errorf("naming the host: %w", err)
	}
	containerd, err := startContainerd(ctx, o)
	if err != nil {
		return err
	}
	if err := importImages(o); err != nil {
		return err
	}
	kubelet, err := startProgram(filepath.Join(o.programs, "kubelet"),
		"--config="+o.kubeletConfig,
		"--kubeconfig="+o.kubeconfig,
		"--root-dir="+kubeletDir,
		"--hostname-override="+o.name,
		"--cloud-provider=external", // so that the addresses of the node stay as they are
	)
	if err != nil {
		return err
	}
	return reap(map[int]string{containerd: "containerd", kubelet: "kubelet"})
}

// reap waits for the first of the node's own programs to end, and frees what others leave: containers end as our children.
func reap(own map[int]string) error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("waiting for programs: %w", err)
		}
		if name := own[pid]; name != "" {
			return fmt.Errorf("%s ended: exit code %d, signal %d", name, status.ExitStatus(), status.Signal())
		}
	}
}

func startProgram(path string, args ...string) (pid int, err error) {
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting %s: %w", path, err)
	}
	return cmd.Process.Pid, nil
}

const containerdTimeout = time.Minute

// startContainerd returns when it answers. The kubelet would give up if it did not.
func startContainerd(ctx context.Context, o options) (pid int, err error) {
	if err := writeConfigs(o); err != nil {
		return 0, err
	}
	pid, err = startProgram("containerd", "--config="+containerdConfig)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, containerdTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", containerdSocket)
		if err == nil {
			return pid, conn.Close()
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for containerd for %v: %w", containerdTimeout, err)
		case <-tick.C:
		}
	}
}

func writeConfigs(o options) error {
	if err := os.Mkdir(networksDir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(containerdConfig, fmt.Appendf(nil, containerdTOML, containerdSocket, imageCalled("pause"), o.plugins, networksDir), 0o644),
		os.WriteFile(filepath.Join(networksDir, "10-pods.conflist"), fmt.Appendf(nil, podNetwork, o.number), 0o644))
}

// containerdTOML is of version 2, which containerd 1.6 reads, and later ones convert. Scores of the OOM killer are inherited
// where the right to lower them is not ours.
const containerdTOML = `version = 2
root = "/run/containerd.root"
state = "/run/containerd"
[grpc]
  address = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
`

// podNetwork has a wire from each Pod to the network that the nodes share, and no Pod of two nodes of one address.
const podNetwork = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
  "type": "ptp",
  "ipam": {"type": "host-local", "dataDir": "/run/pods", "ranges": [[{"subnet": "10.102.0.0/16", "gateway": "10.102.0.1",
    "rangeStart": "10.102.%[1]d.2", "rangeEnd": "10.102.%[1]d.254"}]], "routes": [{"dst": "0.0.0.0/0"}]}
}]}
`

func imageCalled(program string) string { return "fleetscale.test/" + program + ":1" }

// importImages makes images of programs, and gives them to containerd, with those that it is given.
func importImages(o options) error {
	if err := os.Mkdir(imagesDir, 0o755); err != nil {
		return err
	}
	all := slices.Clone(o.images)
	for _, program := range []string{"pause", "burn"} {
		path := filepath.Join(imagesDir, program+".tar")
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := errors.Join(image.Write(file, imageCalled(program), filepath.Join(o.programs, program)), file.Close()); err != nil {
			return err
		}
		all = append(all, path)
	}
	for _, path := range all {
		said, err := exec.Command("ctr", "--address="+containerdSocket, "--namespace=k8s.io", "images", "import", path).CombinedOutput()
		if err != nil {
			return fmt.Errorf("importing image %s: %w: %s", path, err, said)
		}
	}
	return nil
}
