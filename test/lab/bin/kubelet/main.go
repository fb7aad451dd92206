// SPDX-License-Identifier: Apache-2.0

//go:build realnode

// Command kubelet is the kubelet, built as part of this module. Its tag keeps it from those who check or test all packages:
// compiling it takes minutes.
package main

import (
	"context"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
}
