// SPDX-License-Identifier: Apache-2.0

//go:build realnode

// Command kubelet is the kubelet, and kube-proxy if it is started by that name, built as part of this module. Its tag keeps it from
// those who check or test all packages: compiling it takes minutes.
package main

import (
	"context"
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if filepath.Base(os.Args[0]) == "kube-proxy" {
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	}
	os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
}
