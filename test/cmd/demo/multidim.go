// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// roomyShop has Pods that request much more than they use.
const roomyShop = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: shop, image: shop, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
`

// sizer recommends what the Pods of shop should request. Without goals their number stays as it is; with goals the hub divides
// it among the clusters.
const sizer = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
  policy: {updateMode: "Off"}
  constraints: {containerControlledResources: [cpu, memory]}
  replicaDistribution: {type: StaticWeighted}
`

// Patches of the sizer's spec.
const (
	halfUsed = "{goals: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}, " +
		"constraints: {global: {minReplicas: 4, maxReplicas: 12}}}"
	noLarger = `{constraints: {container: [{name: "*", requests: {maxAllowed: {cpu: 800m}}}]}}`
)

// What each Pod of shop uses of cpu: a tenth of what it requests, and more than that.
const (
	little = "100m"
	much   = "1200m"
)

// price has the hub act on its members, and know what they cost.
func (s *stage) price(ctx context.Context) error {
	s.title("The controller-manager starts, and knows what a core and a GiB cost")
	if err := s.control(ctx); err != nil {
		return err
	}
	s.say("The registration of a cluster says what an hour costs there, in any currency:")
	return s.show(ctx, shows("secret/east annotated", "secret/west annotated"), "-n", fixture.RegistrationNamespace,
		"annotate", "secrets", east, west, "fleetscale.io/price-cpu-hour=0.04", "fleetscale.io/price-gib-hour=0.005")
}

// recommend shows what the Pods of both clusters should request.
func (s *stage) recommend(ctx context.Context) error {
	s.title("A workload requests much more than it uses")
	s.say("A Deployment shop runs in both clusters: 3 Pods in each. Each requests 1 cpu and 1Gi, and uses %s and 128Mi.", little)
	if err := s.createNamespace(ctx); err != nil {
		return err
	}
	if err := s.use(ctx, little, east, west); err != nil {
		return err
	}
	for _, cluster := range []string{east, west} {
		if err := s.apply(ctx, cluster, shop, "shop", roomyShop); err != nil {
			return err
		}
	}
	s.say("A MultidimPodAutoscaler on the hub recommends. It changes no Pod (updateMode Off):")
	if err := s.apply(ctx, "hub", shop, "sizer", sizer); err != nil {
		return err
	}
	s.say("At first nothing has been measured. (metrics-server measures a Pod twice before it tells of it: half a minute.)")
	if err := s.show(ctx, autoscales("Deployment/shop Off 6", "Learning"), sizing()...); err != nil {
		return err
	}
	promised := each(autoscales("6 0/6 1 ->", "1Gi -> 250Mi", "Active"), recommends(little, "150m"), saves(true))
	if err := s.show(ctx, promised, sizing()...); err != nil {
		return err
	}
	s.say("CPU and MEMORY are what a Pod requests now, and should. SAVINGS are of all Pods together, with what that costs in an hour.\n" +
		"The status says it by container, and how much is known of it:")
	if err := s.show(ctx, shows("shop", `target     {"cpu":"1`), "-n", shop, "get", "mpa", "shop", "-o",
		`jsonpath={range .status.recommendation.containers[*]}{.containerName}{"\n"}  target     {.target}{"\n"}`+
			`  lowerBound {.lowerBound}{"\n"}{end}`); err != nil {
		return err
	}
	return s.show(ctx, shows("measured for"), message("LowConfidence")...)
}

// grow shows that a recommendation rises above what is requested.
func (s *stage) grow(ctx context.Context) error {
	s.title("Each Pod has more to do, in both clusters")
	s.say("They use %s now, more than they request. So more is recommended, and the savings turn into costs:", much)
	if err := s.use(ctx, much, east, west); err != nil {
		return err
	}
	return s.show(ctx, each(autoscales("6 0/6 1 ->", "1Gi -> 250Mi", "Active"), recommends(much, "1600m"), saves(false)), sizing()...)
}

// aim shows that goals scale the replicas of both clusters.
func (s *stage) aim(ctx context.Context) error {
	s.title("A goal: Pods use half of what they request")
	s.say("There are to be as many of them as that takes, from 4 to 12 in both clusters together:")
	if err := s.patch(ctx, halfUsed); err != nil {
		return err
	}
	s.say("The MultidimPodAutoscaler makes a FederatedHPA for it. Half of 1 cpu is an amount, 500m, whatever is recommended:")
	if err := s.aimsAtHalf(ctx); err != nil {
		return err
	}
	s.say("It comes to 12 soon, and would want more. Each cluster runs its half:")
	if err := s.show(ctx, autoscales("4 12 12", "2/2", "Limited"), "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	for _, cluster := range []string{east, west} {
		if err := s.show(ctx, shows("6/6"), "--context", cluster, "-n", shop, "get", "deployment", "shop"); err != nil {
			return err
		}
	}
	return nil
}

// bound shows that another recommendation does not move what replicas follow.
func (s *stage) bound(ctx context.Context) error {
	s.title("The recommendation changes, and the target of replicas does not")
	s.say("No Pod is to be recommended more than 800m:")
	if err := s.patch(ctx, noLarger); err != nil {
		return err
	}
	s.say("That would save something again:")
	if err := s.show(ctx, each(autoscales("12 0/12 1 -> 800m", "Active"), saves(true)), sizing()...); err != nil {
		return err
	}
	s.say("Replicas do not follow the size of Pods, lest the two chase each other. Nobody has changed the FederatedHPA since it was made:")
	return s.aimsAtHalf(ctx)
}

// holdSizes shows that nothing becomes less while a cluster cannot be seen.
func (s *stage) holdSizes(ctx context.Context) error {
	s.title("West hangs, and east has little to do")
	s.say("By what can be seen, fewer Pods would do. But west may be busy, so all stay:")
	if err := s.onWest((*lab.Cluster).Freeze); err != nil {
		return err
	}
	if err := s.use(ctx, idle, east); err != nil {
		return err
	}
	if err := s.show(ctx, autoscales("4 12 12", "1/2", "Held"), "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	s.say("What is recommended for them stays as well:")
	if err := s.show(ctx, autoscales("12 0/12 1 -> 800m", "Held"), sizing()...); err != nil {
		return err
	}
	return s.show(ctx, shows("nothing becomes less", west), message("RecommendationProvided")...)
}

// release shows that replicas follow the load down, by the same goal.
func (s *stage) release(ctx context.Context) error {
	s.title("West is back, and has little to do as well")
	if err := s.onWest((*lab.Cluster).Thaw); err != nil {
		return err
	}
	if err := s.use(ctx, idle, west); err != nil {
		return err
	}
	s.say("Replicas follow their load:")
	if err := s.show(ctx, autoscales("4 12 4", "2/2"), "-n", shop, "get", "fhpa"); err != nil {
		return err
	}
	s.say("A size is for the busy hours of several days, so it stays. So does the target of replicas:")
	if err := s.show(ctx, autoscales("4 0/4 1 -> 800m", "Active"), sizing()...); err != nil {
		return err
	}
	return s.aimsAtHalf(ctx)
}

// patch shows how the sizer's spec is changed.
func (s *stage) patch(ctx context.Context, spec string) error {
	return s.show(ctx, shows("patched"), "-n", shop, "patch", "mpa", "shop", "--type=merge", "-p", "spec: "+spec)
}

// aimsAtHalf shows the target of the FederatedHPA, and that it is as it was made.
func (s *stage) aimsAtHalf(ctx context.Context) error {
	return s.show(ctx, autoscales("shop MultidimPodAutoscaler 500m 1"), "-n", shop, "get", "fhpa", "shop", "-o",
		"custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[*].kind,"+
			"TARGET:.spec.metrics[*].resource.target.averageValue,GENERATION:.metadata.generation")
}

func sizing() []string { return []string{"-n", shop, "get", "mpa"} }

// message asks what a condition says.
func message(condition string) []string {
	return []string{"-n", shop, "get", "mpa", "shop", "-o", `jsonpath={.status.conditions[?(@.type=="` + condition + `")].message}`}
}

// recommends wants the cpu that is recommended for a Pod to be within bounds.
func recommends(least, most string) check {
	return func(said fixture.Said) error {
		_, after, _ := strings.Cut(said.Stdout, "-> ")
		first, _, _ := strings.Cut(after, " ")
		cpu, err := resource.ParseQuantity(first)
		if err != nil {
			return fmt.Errorf("no cpu is recommended in:\n%s", said.Stdout)
		}
		if cpu.Cmp(resource.MustParse(least)) < 0 || cpu.Cmp(resource.MustParse(most)) > 0 {
			return fmt.Errorf("%v of cpu is recommended, and not %s to %s, in:\n%s", &cpu, least, most, said.Stdout)
		}
		return nil
	}
}

// saves wants the recommendation to cost less in an hour than what is requested, or more.
func saves(less bool) check {
	return func(said fixture.Said) error {
		for _, field := range strings.Fields(said.Stdout) {
			cost, found := strings.CutSuffix(field, "/h")
			if !found {
				continue
			}
			if saved, err := strconv.ParseFloat(cost, 64); err != nil || saved == 0 || saved > 0 != less {
				return fmt.Errorf("saving %s is wrong in:\n%s", field, said.Stdout)
			}
			return nil
		}
		return fmt.Errorf("no cost is in:\n%s", said.Stdout)
	}
}
