// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// autoscaler keeps the mean of all pods' cpu at 150m, with 2 to 8 of them in all.
const autoscaler = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: cart}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}
  minReplicas: 2
  maxReplicas: 8
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: AverageValue, averageValue: 150m}}
  replicaDistribution: {type: StaticWeighted}
`

// autoscale shows one autoscaler for the Deployments of both clusters.
func (s *stage) autoscale(ctx context.Context) error {
	s.title("One autoscaler for both clusters")
	if err := s.control(ctx); err != nil {
		return err
	}
	s.say("The pods of cart use 230m on average, seen over both clusters. This wants 150m, and no more than 8 pods:")
	if err := s.apply(ctx, "hub", shop, "cart", autoscaler); err != nil {
		return err
	}
	s.say("It comes to 8 soon, and would want more:")
	if err := s.show(ctx, autoscales("2 8 8", "2/2", "Limited"), "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	s.say("Each cluster runs its half:")
	for _, cluster := range []string{east, west} {
		if err := s.show(ctx, shows("4/4"), "--context", cluster, "-n", shop, "get", "deployment", "cart"); err != nil {
			return err
		}
	}
	return nil
}

// hold shows that a cluster which cannot be seen costs nobody a pod.
func (s *stage) hold(ctx context.Context) error {
	s.title("West hangs, and east has little to do")
	s.say("By what can be seen, fewer pods would do. But west may be busy, so all stay:")
	if err := s.onWest((*lab.Cluster).Freeze); err != nil {
		return err
	}
	if err := s.use(ctx, idle, east); err != nil {
		return err
	}
	if err := s.show(ctx, autoscales("2 8 8", "1/2", "Held"), "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	s.say("The status says why:")
	return s.show(ctx, shows("west"), "-n", shop, "get", "fhpa", "cart", "-o",
		`jsonpath={.status.conditions[?(@.type=="FleetVisible")].message}`)
}

// follow shows that the fleet follows its load down once all of it is seen.
func (s *stage) follow(ctx context.Context) error {
	s.title("West is back, and has little to do as well")
	if err := s.onWest((*lab.Cluster).Thaw); err != nil {
		return err
	}
	if err := s.use(ctx, idle, west); err != nil {
		return err
	}
	return s.show(ctx, autoscales("2 8 2", "2/2"), "-n", shop, "get", "fhpa")
}

// autoscales wants these words to be fields of the autoscaler's line; several in one are neighbours.
func autoscales(fields ...string) check {
	return func(said fixture.Said) error {
		all := rows(said.Stdout)
		if len(all) != 1 {
			return fmt.Errorf("%d autoscalers and not one in:\n%s%s", len(all), said.Stderr, said.Stdout)
		}
		for _, field := range fields {
			if !strings.Contains(" "+all[0]+" ", " "+field+" ") {
				return fmt.Errorf("%q is missing in:\n%s", field, said.Stdout)
			}
		}
		return nil
	}
}
