// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

const cart = "cart"

// tightCart has Pods that request much less than they use.
const tightCart = `apiVersion: apps/v1
kind: Deployment
metadata: {name: cart}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: cart, image: cart, resources: {requests: {cpu: 100m, memory: 256Mi}}}]}
`

// fitter gives the Pods of cart what they need.
const fitter = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: cart}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}
  policy: {updateMode: Auto}
`

// letSize has the members' API servers give new Pods their size.
func (s *stage) letSize(ctx context.Context) error {
	s.title("Members are allowed to give Pods their size")
	s.say("No program is installed there: a kind, a policy that their API servers carry out, and rights.")
	for _, cluster := range []string{east, west} {
		args := []string{"--context", cluster, "apply", "-k", s.fleet.Deploy("member-sizes")}
		if err := s.show(ctx, shows("sizes.fleetscale.io created"), args...); err != nil {
			return err
		}
	}
	return nil
}

// fit shows that Pods grow in place.
func (s *stage) fit(ctx context.Context) error {
	s.title("A workload uses much more than it requests")
	s.say("Each Pod of cart requests 100m of cpu, and uses 4: where nodes are full, such Pods slow each other down.")
	for _, cluster := range append(s.fleet.Members(), s.fleet.Hub()) {
		if err := s.fleet.CreateNamespace(ctx, cluster, cart); err != nil {
			return err
		}
	}
	for _, name := range []string{east, west} {
		cluster, err := s.fleet.Cluster(name)
		if err != nil {
			return err
		}
		if err := cluster.SetUsage(ctx, lab.Usage{Namespace: cart, CPU: new(resource.MustParse("4"))}); err != nil {
			return err
		}
		if err := s.apply(ctx, name, cart, "cart", tightCart); err != nil {
			return err
		}
	}
	s.say("A MultidimPodAutoscaler gives each the best that its cluster can do (updateMode Auto):")
	if err := s.apply(ctx, "hub", cart, "fitter", fitter); err != nil {
		return err
	}
	if err := s.show(ctx, each(lists(2), shows("100m")), sized(east)...); err != nil {
		return err
	}
	s.say("As soon as their use is known they grow: the same Pods, in both clusters, and nothing restarts.")
	for _, cluster := range []string{east, west} {
		if err := s.show(ctx, each(lists(2), hides("100m", "cart@")), sized(cluster)...); err != nil {
			return err
		}
	}
	return s.show(ctx, each(autoscales("Deployment/cart Auto 4 4/4"), shows("Active")), "-n", cart, "get", "mpa")
}

// bear shows that new Pods are created with their size, also while there is no hub.
func (s *stage) bear(ctx context.Context) error {
	s.title("More Pods are made, and the hub goes away")
	s.say("The template still says 100m. Yet a new Pod is created with what it needs; SIZED-BY tells by which entry:")
	if err := s.more(ctx, east, "3"); err != nil {
		return err
	}
	if err := s.show(ctx, each(lists(3), hides("100m"), shows("cart@")), sized(east)...); err != nil {
		return err
	}
	s.say("The hub's API server and the controller-manager end. New Pods of west get their size all the same:")
	if err := s.controllers.Stop(); err != nil {
		return err
	}
	if err := s.fleet.Hub().Stop(); err != nil {
		return err
	}
	if err := s.more(ctx, west, "4"); err != nil {
		return err
	}
	return s.show(ctx, each(lists(4), hides("100m"), shows("cart@")), sized(west)...)
}

func (s *stage) more(ctx context.Context, cluster, replicas string) error {
	return s.show(ctx, shows("scaled"), "--context", cluster, "-n", cart, "scale", "deployment", "cart", "--replicas="+replicas)
}

// sized asks what each Pod of cart has, and why.
func sized(cluster string) []string {
	return []string{"--context", cluster, "-n", cart, "get", "pods", "-o", "custom-columns=NAME:.metadata.name," +
		`CPU:.status.containerStatuses[0].resources.requests.cpu,MEMORY:.status.containerStatuses[0].resources.requests.memory,` +
		`RESTARTS:.status.containerStatuses[0].restartCount,SIZED-BY:.metadata.annotations.fleetscale\.io/sized-by`}
}
