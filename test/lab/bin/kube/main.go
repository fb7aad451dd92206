// SPDX-License-Identifier: Apache-2.0

// Command kube is kube-apiserver, kube-controller-manager, kube-scheduler and
// kubectl in one: it becomes the one whose name it is started by. One link
// instead of four saves minutes of building and half a gigabyte of disk.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	command, err := commandNamed(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}

func commandNamed(name string) (*cobra.Command, error) {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand(), nil
	case "kube-controller-manager":
		return controllermanager.NewControllerManagerCommand(), nil
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand(), nil
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand(), nil
	}
	return nil, fmt.Errorf("%q is no program of this binary; start it by a link named kube-apiserver, kube-controller-manager, "+
		"kube-scheduler or kubectl", name)
}
