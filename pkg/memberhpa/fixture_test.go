// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"math/rand"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

// federated is a FederatedHPA in distributed mode, as a person writes it.
func federated(changes ...func(*v1alpha1.FederatedHPASpec)) *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "0d1c"}}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(4)), 40
	f.Spec.Metrics = []autoscalingv2.MetricSpec{cpu(60)}
	f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	for _, change := range changes {
		change(&f.Spec)
	}
	return f
}

type specChange = func(*v1alpha1.FederatedHPASpec)

func metrics(metrics ...autoscalingv2.MetricSpec) specChange {
	return func(s *v1alpha1.FederatedHPASpec) { s.Metrics = metrics }
}

func behaving(up, down *autoscalingv2.HPAScalingRules) specChange {
	return func(s *v1alpha1.FederatedHPASpec) {
		s.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
	}
}

func rulesOf(window int32, selects autoscalingv2.ScalingPolicySelect, tolerance string,
	policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
	rules := &autoscalingv2.HPAScalingRules{Policies: policies}
	if window >= 0 {
		rules.StabilizationWindowSeconds = &window
	}
	if selects != "" {
		rules.SelectPolicy = &selects
	}
	if tolerance != "" {
		rules.Tolerance = new(resource.MustParse(tolerance))
	}
	return rules
}

func podsIn(n, seconds int32) autoscalingv2.HPAScalingPolicy {
	return autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: n, PeriodSeconds: seconds}
}

func percentIn(n, seconds int32) autoscalingv2.HPAScalingPolicy {
	return autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: n, PeriodSeconds: seconds}
}

func utilization(n int32) autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &n}
}

func average(q string) autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse(q))}
}

func value(q string) autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(resource.MustParse(q))}
}

func cpu(percent int32) autoscalingv2.MetricSpec { return ofResource("cpu", utilization(percent)) }

func ofResource(name corev1.ResourceName, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}
}

func ofContainer(name corev1.ResourceName, container string, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: name, Container: container, Target: target}}
}

func ofPods(name string, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType,
		Pods: &autoscalingv2.PodsMetricSource{Metric: identifier(name), Target: target}}
}

func ofObject(object, name string, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
		DescribedObject: ingress(object), Metric: identifier(name), Target: target}}
}

func ofExternal(name string, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType,
		External: &autoscalingv2.ExternalMetricSource{Metric: identifier(name), Target: target}}
}

func ingress(name string) autoscalingv2.CrossVersionObjectReference {
	return autoscalingv2.CrossVersionObjectReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: name}
}

func identifier(name string) autoscalingv2.MetricIdentifier {
	return autoscalingv2.MetricIdentifier{Name: name, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "front"}}}
}

// anyFederated is some FederatedHPA and some part of it.
func anyFederated(random *rand.Rand) (*v1alpha1.FederatedHPA, string, part) {
	quantities := []string{"1", "1500m", "0.5", "2Ki", "3e3", "7"}
	target := func(of ...func(string) autoscalingv2.MetricTarget) autoscalingv2.MetricTarget {
		return of[random.Intn(len(of))](quantities[random.Intn(len(quantities))])
	}
	percent := func(string) autoscalingv2.MetricTarget { return utilization(1 + random.Int31n(100)) }
	kinds := []func() autoscalingv2.MetricSpec{
		func() autoscalingv2.MetricSpec { return ofResource("memory", target(average, percent)) },
		func() autoscalingv2.MetricSpec { return ofContainer("cpu", "app", target(average, percent)) },
		func() autoscalingv2.MetricSpec { return ofPods("requests", target(average)) },
		func() autoscalingv2.MetricSpec { return ofObject("main", "hits", target(average, value)) },
		func() autoscalingv2.MetricSpec { return ofExternal("queue", target(average, value)) },
	}
	rules := func() *autoscalingv2.HPAScalingRules {
		if random.Intn(4) == 0 {
			return nil
		}
		policies := []autoscalingv2.HPAScalingPolicy{podsIn(2, 30), percentIn(50, 60)}[:random.Intn(3)]
		if len(policies) == 0 {
			policies = nil // an empty list is refused on the hub
		}
		selects := []autoscalingv2.ScalingPolicySelect{"", "Max", "Min", "Disabled"}[random.Intn(4)]
		return rulesOf(random.Int31n(4)*100-100, selects, []string{"", "50m", "0.2"}[random.Intn(3)], policies...)
	}
	f := federated(func(s *v1alpha1.FederatedHPASpec) {
		s.Metrics = nil
		for range random.Intn(4) {
			s.Metrics = append(s.Metrics, kinds[random.Intn(len(kinds))]())
		}
		if random.Intn(2) == 0 {
			s.ScaleTargetRef.APIVersion = ""
		}
	})
	if random.Intn(3) > 0 {
		behaving(rules(), rules())(&f.Spec)
	}
	least := 1 + random.Int31n(9)
	return f, "web", part{Min: least, Max: least + random.Int31n(9), Hold: random.Intn(3) == 0,
		Window: time.Duration(random.Intn(3)) * 150 * time.Second, Bumped: random.Intn(3) == 0}
}

// part is what a cluster is given.
type part = assignment.SiteStep
