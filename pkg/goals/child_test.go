// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// of reads a spec as a person writes it, with the defaults.
func of(t testing.TB, text string) *v1alpha1.MultidimPodAutoscalerSpec {
	t.Helper()
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := yaml.UnmarshalStrict([]byte(text), &m.Spec); err != nil {
		t.Fatal(err)
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return &m.Spec
}

const (
	cpu60    = `{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}`
	cpu500m  = `{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 500m}}}`
	memory70 = `{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 70}}}`
	appCPU50 = `{type: ContainerResource, containerResource: {name: cpu, container: app, target: {type: Utilization, averageUtilization: 50}}}`
	queue    = `{type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: 5}}}`
)

// pair has an app of half a core and 512Mi, and a log of a tenth and 64Mi; only the app has limits.
func pair() []Container {
	return []Container{
		{"app", Amounts{500, 512 << 20}, Amounts{1000, 1 << 30}},
		{"log", Amounts{100, 64 << 20}, Amounts{}},
	}
}

func TestChild(t *testing.T) {
	with := func(change func([]Container)) []Container {
		all := pair()
		change(all)
		return all
	}
	both := "containerControlledResources: [cpu, memory]"
	tests := map[string]struct {
		goals, constraints string
		template           []Container
		metrics            []string // of the child; nil: there is none
		floors             []Floor
		faults             []Fault
	}{
		"a utilization is an amount of what the template requests": {"metrics: [" + cpu60 + "]", "", pair(), []string{"cpu 360m"}, nil, nil},
		"bytes":            {"metrics: [" + memory70 + "]", "", pair(), []string{"memory 422785843"}, nil, nil}, // 422785843.2
		"of one container": {"metrics: [" + appCPU50 + "]", "", pair(), []string{"cpu of app 250m"}, nil, nil},
		"an amount stays":  {"metrics: [" + cpu500m + "]", "", pair(), []string{"cpu 500m"}, []Floor{{"cpu", "", 500}}, nil},
		"no resource":      {"metrics: [" + queue + "]", both, pair(), []string{"queue"}, nil, nil},
		"rather more Pods": {"metrics: [" + cpu60 + "]", "", []Container{{"app", Amounts{CPU: 1}, Amounts{}}}, []string{"cpu 1m"}, nil, nil},
		"the last metric":  {"metrics: [" + queue + ", " + cpu60 + "]", "", pair(), []string{"queue", "cpu 360m"}, nil, nil},
		"sized, too":       {"metrics: [" + cpu60 + "]", both, pair(), []string{"cpu 360m"}, []Floor{{"cpu", "", 360}}, nil},
		"sized in one only": {"metrics: [" + cpu60 + "]", both + `, container: [{name: app, mode: "Off"}]`, pair(),
			[]string{"cpu 360m"}, []Floor{{"cpu", "", 360}}, nil},
		"sized in another": {"metrics: [" + appCPU50 + "]", both + `, container: [{name: app, mode: "Off"}]`, pair(),
			[]string{"cpu of app 250m"}, nil, nil},
		"two goals of one resource: the lesser one makes the fleet grow": {"metrics: [" + cpu500m + ", " + cpu60 + ", " + appCPU50 + "]",
			both, pair(),
			[]string{"cpu 500m", "cpu 360m", "cpu of app 250m"}, []Floor{{"cpu", "", 360}, {"cpu", "app", 250}}, nil},
		"a container without a request": {"metrics: [" + queue + ", " + cpu60 + "]", "",
			with(func(c []Container) { c[1].Requests.CPU = 0 }), nil, nil,
			[]Fault{{1, NoRequest, `spec.goals.metrics[1]: container "log" requests no cpu in the template, so its utilization cannot be told: ` +
				`give it a request, or write the goal as averageValue`}}},
		"it is not concerned": {"metrics: [" + appCPU50 + "]", "", with(func(c []Container) { c[1].Requests.CPU = 0 }),
			[]string{"cpu of app 250m"}, nil, nil},
		"a container that is not there": {"metrics: [" + appCPU50 + "]", "", pair()[1:], nil, nil,
			[]Fault{{0, NoContainer, `spec.goals.metrics[0]: the template has no such container, so its utilization cannot be told: name one that ` +
				`it has, or write the goal as averageValue`}}},
		"live requests":          {"utilizationBase: LiveRequest, metrics: [" + cpu60 + "]", "", pair(), []string{"cpu 60%"}, nil, nil},
		"live requests, unknown": {"utilizationBase: LiveRequest, metrics: [" + appCPU50 + "]", both, nil, []string{"cpu of app 50%"}, nil, nil},
		"live requests that are sized": {"utilizationBase: LiveRequest, metrics: [" + cpu60 + "]", both, pair(), nil, nil,
			[]Fault{{0, LiveRequest, `spec.goals.metrics[0]: cpu is sized, so its utilization may not have the base LiveRequest: write TemplateRequest`}}},
		"an amount needs no base": {"utilizationBase: LiveRequest, metrics: [" + cpu500m + "]", both, pair(), []string{"cpu 500m"},
			[]Floor{{"cpu", "", 500}}, nil},
		"of the most that is allowed": {"utilizationBase: MaxAllowed, metrics: [" + cpu60 + "]",
			both + `, container: [{name: app, requests: {maxAllowed: {cpu: 800m}}}, {name: "*", requests: {maxAllowed: {cpu: 200m}}}]`, pair(),
			[]string{"cpu 600m"}, []Floor{{"cpu", "", 600}}, nil},
		"of the most that is allowed, or else requested": {"utilizationBase: MaxAllowed, metrics: [" + cpu60 + "]",
			both + `, container: [{name: app, requests: {maxAllowed: {cpu: 2}}}, {name: log, mode: "Off"}]`, pair(),
			[]string{"cpu 1260m"}, []Floor{{"cpu", "", 1260}}, nil},
		"the most of what is not sized says nothing": {"utilizationBase: MaxAllowed, metrics: [" + cpu60 + "]",
			`container: [{name: "*", requests: {maxAllowed: {cpu: 2}}}]`, pair(), []string{"cpu 360m"}, nil, nil},
		"no most is said": {"utilizationBase: MaxAllowed, metrics: [" + cpu60 + "]",
			both + `, container: [{name: app, requests: {maxAllowed: {cpu: 2}}}]`, pair(), nil, nil,
			[]Fault{{0, NoMaxAllowed, `spec.goals.metrics[0]: container "log" has no maxAllowed of cpu, which utilizationBase MaxAllowed needs: ` +
				`give it one, or write TemplateRequest`}}},
		"a limit 1.2 times as high": {"metrics: [" + appCPU50 + "]", both, with(func(c []Container) { c[0].Limits.CPU = 300 }),
			[]string{"cpu of app 250m"}, []Floor{{"cpu", "app", 250}}, nil},
		"a limit too near": {"metrics: [" + appCPU50 + "]", both, with(func(c []Container) { c[0].Limits.CPU = 299 }),
			[]string{"cpu of app 250m"}, []Floor{{"cpu", "app", 250}},
			[]Fault{{0, HiddenByLimit, `spec.goals.metrics[0]: with a limit of 299m for cpu a Pod can hardly use more than the goal, 250m, so more ` +
				`load would not show: raise the limit to 1.2 times that, or lower the goal`}}},
		"a limit below": {"metrics: [" + appCPU50 + "]", both, with(func(c []Container) { c[0].Limits.CPU = 1 }),
			[]string{"cpu of app 250m"}, []Floor{{"cpu", "app", 250}},
			[]Fault{{0, HiddenByLimit, `spec.goals.metrics[0]: with a limit of 1m for cpu a Pod can hardly use more than the goal, 250m, so more ` +
				`load would not show: raise the limit to 1.2 times that, or lower the goal`}}},
		"a limit of another container, and none for this": {"metrics: [" + cpu60 + "]", both, with(func(c []Container) { c[0].Limits.CPU = 1 }),
			[]string{"cpu 360m"}, []Floor{{"cpu", "", 360}}, nil},
		"limits of both together": {"metrics: [" + cpu60 + "]", both,
			with(func(c []Container) { c[0].Limits.CPU, c[1].Limits.CPU = 400, 31 }), []string{"cpu 360m"}, []Floor{{"cpu", "", 360}},
			[]Fault{{0, HiddenByLimit, `spec.goals.metrics[0]: with a limit of 431m for cpu a Pod can hardly use more than the goal, 360m, so more ` +
				`load would not show: raise the limit to 1.2 times that, or lower the goal`}}},
		"limits of both together, high enough": {"metrics: [" + cpu60 + "]", both,
			with(func(c []Container) { c[0].Limits.CPU, c[1].Limits.CPU = 400, 32 }), []string{"cpu 360m"}, []Floor{{"cpu", "", 360}}, nil},
		"a limit beside a goal that is not sized": {"metrics: [" + appCPU50 + "]", "", with(func(c []Container) { c[0].Limits.CPU = 1 }),
			[]string{"cpu of app 250m"}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := of(t, "{goals: {"+tc.goals+"}, constraints: {global: {maxReplicas: 9}, "+tc.constraints+"}}")
			before := spec.DeepCopy()
			got := Child(spec, tc.template)
			var metrics []string
			if got.Spec != nil {
				metrics = words(got.Spec.Metrics)
			}
			fleettest.Same(t, "metrics", tc.metrics, metrics)
			fleettest.Same(t, "floors", tc.floors, got.Floors)
			fleettest.Same(t, "faults", tc.faults, got.Faults)
			if diff := cmp.Diff(before, spec); diff != "" {
				t.Errorf("the spec changed (-before +after):\n%s", diff)
			}
		})
	}
}

// words are the metrics, with their goals as they will be read.
func words(metrics []autoscalingv2.MetricSpec) []string {
	goal := func(name corev1.ResourceName, of string, target autoscalingv2.MetricTarget) string {
		switch {
		case target.AverageUtilization != nil && target.Type == autoscalingv2.UtilizationMetricType:
			return string(name) + of + " " + fmt.Sprint(*target.AverageUtilization) + "%"
		case target.AverageUtilization == nil && target.Type == autoscalingv2.AverageValueMetricType:
			return string(name) + of + " " + target.AverageValue.String()
		}
		return "neither one nor the other"
	}
	all := []string{}
	for _, m := range metrics {
		switch {
		case m.Resource != nil:
			all = append(all, goal(m.Resource.Name, "", m.Resource.Target))
		case m.ContainerResource != nil:
			all = append(all, goal(m.ContainerResource.Name, " of "+m.ContainerResource.Container, m.ContainerResource.Target))
		default:
			all = append(all, m.External.Metric.Name)
		}
	}
	return all
}

// What a FederatedHPA and a MultidimPodAutoscaler have in common is passed on.
func TestWhatIsPassedOn(t *testing.T) {
	text := `
scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
mode: Observe
goals: {metrics: [` + queue + `]}
constraints: {global: {minReplicas: 2, maxReplicas: 9, behavior: {scaleDown: {stabilizationWindowSeconds: 60}}}}
clusterAffinity: {clusterNames: [east]}
autoscaleMultiClusterDelay: 30
scalingToZero: true
scalingToZeroMode: Native
deletionPolicy: Orphan
federatedHPAAssignment: {federatedHPAAssignmentType: Aggregated}
replicaDistribution: {type: LoadWeighted}
`
	want := &v1alpha1.FederatedHPA{}
	if err := yaml.UnmarshalStrict([]byte(`
scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
mode: Observe
metrics: [`+queue+`]
minReplicas: 2
maxReplicas: 9
behavior: {scaleDown: {stabilizationWindowSeconds: 60}}
clusterAffinity: {clusterNames: [east]}
autoscaleMultiClusterDelay: 30
scalingToZero: true
scalingToZeroMode: Native
deletionPolicy: Orphan
federatedHPAAssignment: {federatedHPAAssignmentType: Aggregated}
replicaDistribution: {type: LoadWeighted}
`), &want.Spec); err != nil {
		t.Fatal(err)
	}
	v1alpha1.DefaultFederatedHPA(want)
	got := Child(of(t, text), nil)
	fleettest.Same(t, "", &want.Spec, got.Spec)
	fleettest.Same(t, "without goals", Result{}, Child(of(t, "{}"), pair()))
}
