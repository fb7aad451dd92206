// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command machine is the nodes of a cluster of a lab, each a kubelet and a containerd in namespaces and cgroups of their own, and the
// network that they share. Nothing outside of them is changed, and all of it ends with these processes, however they end:
//
//	network  holds the network, and moves connections between it and the outside: there is no other way in or out
//	run      a node in that network; it makes its kubelet reachable from outside
//	init     the first process of the node; it mounts what is the node's own, and starts containerd and the kubelet
//	sweep    outlives a node, and removes its cgroups
//	enter    becomes a program in the network
//
// In the network API servers are reached by the address 192.0.2.1, and what else listens outside is not. Pods of all nodes of the
// cluster reach each other; its API server reaches them, and their Services, through a proxy.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// options are the same for run and init.
type options struct {
	name          string   // of the node
	network       int      // process that holds the network
	number        int      // of the node in that network, from 1
	programs      string   // folder with kubelet and the programs of images
	images        []string // files of further images
	plugins       string   // folder with CNI plugins
	kubeletConfig string   // file
	kubeconfig    string   // file; its server is at the loopback address
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
		return errors.New("usage: machine network FLAGS | run FLAGS | enter PROCESS PROGRAM ARGUMENTS")
	}
	role, args := args[0], args[1:]
	switch role {
	case "sweep":
		return sweep(args)
	case "enter":
		return enter(args)
	case "network":
		return startNetwork(args)
	case "run", "init":
		return startNode(ctx, role, args)
	}
	return fmt.Errorf("%q is neither network nor run nor init nor sweep nor enter", role)
}

func startNode(ctx context.Context, role string, args []string) error {
	var o options
	flags := flag.NewFlagSet(role, flag.ContinueOnError)
	flags.StringVar(&o.name, "name", "", "name of the node")
	flags.IntVar(&o.network, "network", 0, "process that holds the network")
	flags.IntVar(&o.number, "number", 1, "number of the node in that network")
	flags.StringVar(&o.programs, "programs", "", "folder with kubelet, pause and burn")
	flags.Func("image", "file of an image; may be given several times", func(file string) error {
		o.images = append(o.images, file)
		return nil
	})
	flags.StringVar(&o.plugins, "cni-plugins", "", "folder with the CNI plugins ptp, host-local and loopback")
	flags.StringVar(&o.kubeletConfig, "kubelet-config", "", "configuration file of the kubelet")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the kubelet")
	flags.IntVar(&o.kubeletPort, "kubelet-port", 0, "port of the kubelet")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if role == "run" {
		return run(o, args)
	}
	return initialize(ctx, o)
}

func startNetwork(args []string) error {
	flags := flag.NewFlagSet("network", flag.ContinueOnError)
	socket := flags.String("socket", "", "unix socket of the proxy by which the API server reaches Pods and Services")
	services := flags.String("services", "", "addresses of Services, as 10.0.0.0/16")
	ports := flags.String("ports", "", "ports of API servers, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var reached []int
	for text := range strings.SplitSeq(*ports, ",") {
		port, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("--ports: %w", err)
		}
		reached = append(reached, port)
	}
	return serveNetwork(*socket, *services, reached)
}
