// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"path/filepath"
)

// startEtcd starts the store of all clusters. It does not wait for the disk,
// and elects itself at once: the data need not outlive the lab.
func (l *Lab) startEtcd(ctx context.Context) error {
	free, err := l.FreePorts(2)
	if err != nil {
		return err
	}
	l.state.EtcdURL = fmt.Sprintf("http://127.0.0.1:%d", free[0])
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", free[1])
	_, err = l.Run(ctx, Program{
		Name: "etcd",
		Path: l.program("etcd"),
		Args: []string{
			"--data-dir=" + filepath.Join(l.dir, "etcd"),
			"--listen-client-urls=" + l.state.EtcdURL,
			"--advertise-client-urls=" + l.state.EtcdURL,
			"--listen-peer-urls=" + peerURL,
			"--initial-advertise-peer-urls=" + peerURL,
			"--initial-cluster=default=" + peerURL,
			"--unsafe-no-fsync",
			"--heartbeat-interval=20",
			"--election-timeout=200",
			"--log-level=warn",
		},
		Ready: HTTPReady(l.state.EtcdURL + "/health"),
	})
	if err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	return nil
}
