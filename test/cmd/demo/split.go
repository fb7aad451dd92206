// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const north = "north"

// bigCart has Pods of which a node takes four.
const bigCart = `apiVersion: apps/v1
kind: Deployment
metadata: {name: cart}
spec:
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: cart, image: cart, resources: {requests: {cpu: 16}}}]}
`

// batch takes the rest of a node that has one Pod of cart.
const batch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: batch}
spec:
  replicas: 3
  selector: {matchLabels: {app: batch}}
  template:
    metadata: {labels: {app: batch}}
    spec: {containers: [{name: batch, image: batch, resources: {requests: {cpu: 16}}}]}
`

// splitter fills east first, then west, then north. Its bounds are those of all three together.
const splitter = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: cart}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}
  minReplicas: 1
  maxReplicas: 12
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: AverageValue, averageValue: 150m}}
  autoscaleMultiClusterDelay: 10
  federatedHPAAssignment:
    federatedHPAAssignmentType: Prioritized
    scaleDownOrder: BestEffort
    rebalance: {strategy: None}
    clusterAutoscalingPreference:
    - {targetCluster: {clusterNames: [east]}, priority: 3}
    - {targetCluster: {clusterNames: [west]}, priority: 2}
    - {targetCluster: {clusterNames: [north]}, priority: 1}
`

// startThree brings up clusters of different size.
func (s *stage) startThree(ctx context.Context) error {
	s.title("A hub and three member clusters: real control planes, on this machine")
	if err := s.prepare(ctx); err != nil {
		return err
	}
	quick := []string{"--horizontal-pod-autoscaler-sync-period=3s"}
	return s.up(ctx, "", lab.Member{Name: east, Nodes: 1, ControllerManagerArgs: quick},
		lab.Member{Name: west, Nodes: 1, ControllerManagerArgs: quick}, lab.Member{Name: north, ControllerManagerArgs: quick})
}

// enlist has the hub know its members, and act on them.
func (s *stage) enlist(ctx context.Context) error {
	s.title("The hub learns of its members, and the controller-manager starts")
	if err := s.control(ctx, "--create-workloads"); err != nil {
		return err
	}
	for _, member := range s.fleet.Members() {
		if err := s.fleet.LetCreate(ctx, member); err != nil {
			return err
		}
	}
	s.say("A member is a Secret with a kubeconfig, on the hub. Nothing is installed in the members:")
	return s.show(ctx, shows(east, west, north), "-n", fixture.RegistrationNamespace, "get", "secrets", "-l", "fleetscale.io/member=true")
}

// split shows how the bounds of one autoscaler become those of three.
func (s *stage) split(ctx context.Context) error {
	s.title("One FederatedHPA, and an autoscaler in each cluster")
	s.say("The hub has a Deployment cart, as a template: a hub runs no Pods. A node takes four of its Pods; east and west have one node, " +
		"north has two.")
	if err := s.createNamespace(ctx); err != nil {
		return err
	}
	if err := s.apply(ctx, "hub", shop, "deployment", bigCart); err != nil {
		return err
	}
	s.say("This autoscaler wants 12 Pods at most, in east before west before north:")
	if err := s.apply(ctx, "hub", shop, "autoscaler", splitter); err != nil {
		return err
	}
	s.say("Each cluster gets the Deployment, as its registration allows, one Pod to begin with, and a part of the 12: what it can host.")
	if err := s.show(ctx, standing("1,1,1", "4,4,4", "1,1,1", "Active,Active,Active"), parts()...); err != nil {
		return err
	}
	s.say("In a cluster that is an autoscaler like any other:")
	return s.show(ctx, autoscales("1 4 1"), "--context", east, "-n", shop, "get", "hpa")
}

// scale shows that a cluster's own autoscaler follows its load.
func (s *stage) scale(ctx context.Context) error {
	s.title("West gets four times the load")
	s.say("Its own autoscaler sees to that, by its own metrics-server. (New Pods are measured twice before they count.)")
	if err := s.use(ctx, busy, west); err != nil {
		return err
	}
	if err := s.show(ctx, autoscales("1 4 4"), "--context", west, "-n", shop, "get", "hpa"); err != nil {
		return err
	}
	s.say("The hub watches:")
	return s.show(ctx, autoscales("1 12 6", "3/3"), "-n", shop, "get", "fhpa")
}

// loseHub shows that the clusters need no hub to scale.
func (s *stage) loseHub(ctx context.Context) error {
	s.title("The hub is gone, and north gets four times the load")
	s.say("Its API server and the controller-manager end:")
	if err := s.controllers.Stop(); err != nil {
		return err
	}
	if err := s.fleet.Hub().Stop(); err != nil {
		return err
	}
	if err := s.showRefusal(ctx, "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	s.say("North continues:")
	if err := s.use(ctx, busy, north); err != nil {
		return err
	}
	return s.show(ctx, autoscales("1 4 4"), "--context", north, "-n", shop, "get", "hpa")
}

// regainHub shows that a hub which comes back changes nothing that is right.
func (s *stage) regainHub(ctx context.Context) error {
	s.title("The hub is back")
	if err := s.fleet.Hub().Start(ctx); err != nil {
		return err
	}
	if err := s.controllers.Start(ctx); err != nil {
		return err
	}
	s.say("It sees what happened meanwhile. The bounds are still right, so nothing is written:")
	if err := s.show(ctx, standing("1,1,1", "4,4,4", "1,4,4"), parts()...); err != nil {
		return err
	}
	return s.wroteNothing(ctx)
}

// wroteNothing makes sure that the controller-manager has written to no member since it started.
func (s *stage) wroteNothing(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.controllers.Metrics(), nil)
	if err != nil {
		return fmt.Errorf("asking for metrics: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking for metrics: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("reading metrics: %w", err)
	}
	const writes = "fleetscale_distributed_member_writes_total{"
	if _, counted, found := strings.Cut(string(text), writes); found {
		line, _, _ := strings.Cut(counted, "\n")
		return fmt.Errorf("something was written after all: %s%s", writes, line)
	}
	return nil
}

// fill shows that what a cluster cannot host goes to another one.
func (s *stage) fill(ctx context.Context) error {
	s.title("East is full, and gets four times the load")
	s.say("Another Deployment has taken the rest of its node:")
	member, err := s.fleet.Cluster(east)
	if err != nil {
		return err
	}
	if err := s.fleet.CreateNamespace(ctx, member, "batch"); err != nil {
		return err
	}
	if err := s.apply(ctx, east, "batch", "batch", batch); err != nil {
		return err
	}
	if err := s.show(ctx, shows("3/3"), "--context", east, "-n", "batch", "get", "deployments"); err != nil {
		return err
	}
	s.say("So three of the Pods that it wants find no node:")
	if err := s.use(ctx, busy, east); err != nil {
		return err
	}
	if err := s.show(ctx, shows("Pending"), "--context", east, "-n", shop, "get", "pods"); err != nil {
		return err
	}
	s.say("After a delay (autoscaleMultiClusterDelay) east keeps what it hosts of the 12. West is full too, so the other three go to north:")
	if err := s.show(ctx, standing("1,1,1", "1,7,4", "1,7,4", "Saturated,Active,Active"), parts()...); err != nil {
		return err
	}
	s.say("An Event tells of each such step:")
	return s.show(ctx, shows("MaximumSpilled"), "-n", shop, "get", "events", "-o",
		"custom-columns=REASON:.reason,MESSAGE:.message", "--field-selector=involvedObject.kind=FederatedHPA")
}

// showRefusal shows that there is no answer.
func (s *stage) showRefusal(ctx context.Context, args ...string) error {
	s.command(args...)
	said, err := s.fleet.Ask(ctx, args...)
	if err == nil {
		return fmt.Errorf("kubectl %s is still answered: %s", strings.Join(args, " "), said.Stdout)
	}
	lines := strings.Split(strings.TrimSpace(said.Stderr), "\n")
	fmt.Fprintf(s.out, "%s%s\n\n", margin, lines[len(lines)-1])
	return nil
}

// parts asks the hub what each cluster has.
func parts() []string {
	columns := "CLUSTER:.status.clusters[*].name,MIN:.status.clusters[*].assignedMin,MAX:.status.clusters[*].assignedMax," +
		"REPLICAS:.status.clusters[*].currentReplicas,STATE:.status.clusters[*].state"
	return []string{"-n", shop, "get", "fhpa", "cart", "-o", "custom-columns=" + columns}
}

// standing wants these columns after the names of the clusters: minima, maxima, replicas and states.
func standing(columns ...string) check {
	want := strings.Join(append([]string{east + "," + north + "," + west}, columns...), " ")
	return func(said fixture.Said) error {
		if got := strings.Join(strings.Fields(said.Stdout), " "); !strings.Contains(got+" ", want+" ") {
			return fmt.Errorf("%q is missing in:\n%s%s", want, said.Stderr, said.Stdout)
		}
		return nil
	}
}
