// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command machine is a node of a lab: a kubelet and a containerd in namespaces and cgroups of their own. Nothing outside of
// them is changed, and all of it ends with this process, however that ends. It is three processes:
//
//	run    moves connections between the loopback address of the node and that outside: there is no other way in or out
//	init   the first process of the node; it mounts what is the node's own, and starts containerd and the kubelet
//	sweep  outlives the others, and removes the cgroups
//
// The node needs its API server only, which it reaches where all others do. Its kubelet is reached at the same port outside
// and inside. Pods reach each other and the kubelet; there are neither Services nor names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are the same for run and init.
type options struct {
	name          string // of the node
	programs      string // folder with kubelet and the programs of images
	plugins       string // folder with CNI plugins
	kubeletConfig string // file
	kubeconfig    string // file; its server is at the loopback address
	apiServerPort int
	kubeletPort   int
}

func main() {
	if err := start(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "machine:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: machine run FLAGS")
	}
	role, args := args[0], args[1:]
	if role == "sweep" {
		return sweep(args)
	}
	var o options
	flags := flag.NewFlagSet(role, flag.ContinueOnError)
	flags.StringVar(&o.name, "name", "", "name of the node")
	flags.StringVar(&o.programs, "programs", "", "folder with kubelet, pause and burn")
	flags.StringVar(&o.plugins, "cni-plugins", "", "folder with the CNI plugins bridge, host-local and loopback")
	flags.StringVar(&o.kubeletConfig, "kubelet-config", "", "configuration file of the kubelet")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the kubelet")
	flags.IntVar(&o.apiServerPort, "api-server-port", 0, "port of the API server")
	flags.IntVar(&o.kubeletPort, "kubelet-port", 0, "port of the kubelet")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch role {
	case "run":
		return run(o, args)
	case "init":
		return initialize(ctx, o)
	}
	return fmt.Errorf("%q is neither run nor init nor sweep", role)
}
