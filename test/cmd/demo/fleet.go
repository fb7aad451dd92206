// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

// What each Pod uses of cpu.
const (
	idle = "20m"
	busy = "600m"
)

// control has the hub act on the autoscalers there, and in its members, by a program with further flags.
func (s *stage) control(ctx context.Context, flags ...string) (err error) {
	hub := s.fleet.Hub()
	for _, install := range []func(context.Context, *lab.Cluster) error{s.fleet.InstallKinds, s.fleet.InstallControllers} {
		if err := install(ctx, hub); err != nil {
			return err
		}
	}
	for _, member := range s.fleet.Members() {
		if err := s.fleet.JoinToScale(ctx, member); err != nil {
			return err
		}
	}
	flags = append([]string{"--sync-period=3s", "--vertical-period=2s", "--member-probe-period=2s",
		"--downscale-stabilization=10s", "--cpu-initialization-period=1s", "--initial-readiness-delay=1s"}, flags...)
	s.controllers, err = s.fleet.StartControllers(ctx, hub, s.program, "controller-manager", flags...)
	return err
}

// createNamespace has the namespace of the workloads exist in all clusters.
func (s *stage) createNamespace(ctx context.Context) error {
	for _, cluster := range append(s.fleet.Members(), s.fleet.Hub()) {
		if err := s.fleet.CreateNamespace(ctx, cluster, shop); err != nil {
			return err
		}
	}
	return nil
}

// apply shows how a manifest comes into a cluster.
func (s *stage) apply(ctx context.Context, cluster, namespace, name, manifest string) error {
	file := filepath.Join(s.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return s.show(ctx, shows("created"), "--context", cluster, "-n", namespace, "apply", "-f", file)
}

// use has each Pod of clusters use so much cpu.
func (s *stage) use(ctx context.Context, cpu string, clusters ...string) error {
	for _, name := range clusters {
		cluster, err := s.fleet.Cluster(name)
		if err != nil {
			return err
		}
		err = s.await(ctx, "waiting for the cluster to take what its pods are to use", func(ctx context.Context) error {
			return cluster.SetUsage(ctx, lab.Usage{Namespace: shop, CPU: new(resource.MustParse(cpu))})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) onWest(do func(*lab.Cluster) error) error {
	member, err := s.fleet.Cluster(west)
	if err != nil {
		return err
	}
	return do(member)
}
