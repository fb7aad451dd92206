// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// One cluster, in a few lines each; all of it is held to Kubernetes in test/differential/replicas.
func TestOneCluster(t *testing.T) {
	pending := func(c *Cluster) {
		for i := range 10 {
			p := old(fmt.Sprintf("new-%d", i))
			p.Phase = corev1.PodPending
			c.Pods = append(c.Pods, p)
		}
	}
	at := func(q Question, conditions ...autoscalingv2.HorizontalPodAutoscalerCondition) Question {
		q.Status.Conditions = conditions
		return q
	}
	byUs := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionTrue, Reason: "ByUs"}
	zeroAllowed := func(q Question) Question { q.Spec.MinReplicas = new(int32); return q }
	tests := map[string]struct {
		question Question
		want     string
	}{
		"too busy":                               {ask(10, cluster("east", 10)).use("east", 75), "15"},
		"not busy":                               {ask(10, cluster("east", 10)).use("east", 20), "4"},
		"as it should be":                        {ask(10, cluster("east", 10)).use("east", 55), "10"},
		"just beyond tolerance":                  {ask(10, cluster("east", 10)).use("east", 56), "12"},
		"twice as many at once":                  {ask(10, cluster("east", 10)).use("east", 400), "20 ScaleUpLimit"},
		"surging Pods count":                     {ask(20, cluster("east", 30)).use("east", 56), "34"},
		"Pending Pods do not hold on the way in": {ask(20, cluster("east", 10, pending)).use("east", 40), "8"},
		"Pending Pods hold on the way out":       {ask(20, cluster("east", 10, pending)).use("east", 75), "20"},
		"too busy, by an amount":                 {ask(10, cluster("east", 10)).by(amountOf(corev1.ResourceCPU, "250m")).use("east", 75), "15"},
		"no samples of an amount": {ask(10, cluster("east", 10)).by(amountOf(corev1.ResourceCPU, "250m")),
			"error FailedGetResourceMetric"},
		"no Pods":           {ask(10), "error FailedGetResourceMetric"},
		"no samples":        {ask(10, cluster("east", 10)), "error FailedGetResourceMetric"},
		"above the maximum": {ask(101, cluster("east", 10)), "100"},
		"below the minimum": {func() Question {
			q := ask(1)
			q.Spec.MinReplicas = new(int32(3))
			return q
		}(), "3"},
		"the minimum of a spec without one": {func() Question {
			q := zeroAllowed(ask(2, cluster("east", 2)).with(externalOf(value("100")), 0))
			q.Spec.MinReplicas = nil
			return q
		}(), "1 TooFewReplicas"},
		"down to zero":                           {zeroAllowed(ask(2, cluster("east", 2)).with(externalOf(value("100")), 0)), "0"},
		"at zero by a person":                    {zeroAllowed(ask(0).with(externalOf(value("100")), 100_000)), "0 ScalingDisabled"},
		"up from zero":                           {at(zeroAllowed(ask(0).with(externalOf(value("100")), 250_000)), byUs), "3 ByUs"},
		"from zero to a minimum that was raised": {at(ask(0).with(externalOf(value("100")), 0), byUs), "1 ByUs TooFewReplicas"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { check(t, Decide(tc.question), tc.want) })
	}
}

// Where Kubernetes 1.37 leaves the range of its numbers, or its controller's process, we do not.
func TestWhereKubernetesGoesAstray(t *testing.T) {
	huge := func(c *Cluster) {
		for i := range c.Pods {
			c.Pods[i].Requests = RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{container("app", "1", "64Gi")}})
		}
	}
	memory := func(bytes int64) Question {
		q := ask(2000, cluster("east", 2000, huge))
		q.Spec.MaxReplicas, q.Spec.Metrics = 5000, []autoscalingv2.MetricSpec{utilizationOf(corev1.ResourceMemory, 50)}
		q = q.use("east", 1)
		for name := range q.Metrics[0].Pods["east"] {
			q.Metrics[0].Pods["east"][name] = Sample{Value: bytes * 1000}
		}
		return q
	}
	growing := func(value int32, replicas int32) Question {
		q := ask(replicas, cluster("east", 10)).use("east", 400)
		q.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleUp: &autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: value,
				PeriodSeconds: 15}}},
		}
		return q
	}
	pods := ask(10, cluster("east", 10)).use("east", 1<<50)
	pods.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.PodsMetricSourceType,
		Pods: &autoscalingv2.PodsMetricSource{Target: share("1m")}}}
	tests := map[string]struct {
		question Question
		want     string
	}{
		"92 terabytes of memory":            {memory(48 << 30), "3000"},
		"a metric of Pods that is immense":  {pods, "20 ScaleUpLimit"},
		"a policy that allows all there is": {growing(math.MaxInt32, 10), "80"},
		"an immense external value":         {ask(10, cluster("east", 10)).with(externalOf(value("1m")), math.MaxInt64), "20 ScaleUpLimit"},
		"external values beyond the bound": {ask(10, cluster("east", 10)).with(externalOf(value("1m")), math.MaxInt64, math.MaxInt64),
			"20 ScaleUpLimit"},
		"external shares beyond the bound": {ask(10, cluster("east", 10)).with(externalOf(share("1m")), math.MaxInt64, 1), "20 ScaleUpLimit"},
		"a metric without its source": {ask(10,
			cluster("east", 10)).with(autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType}), "error InvalidMetricSourceType"},
		"a metric of Pods without its target": {ask(10,
			cluster("east", 10)).with(autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{}}),
			"error FailedGetPodsMetric"},
		"an object with two values": {ask(10, cluster("east", 10)).with(autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType,
			Object: &autoscalingv2.ObjectMetricSource{Target: value("1")}}, 1, 2), "error FailedGetObjectMetric"},
		"no metric at all": {func() Question { q := ask(10, cluster("east", 10)); q.Spec.Metrics = nil; return q }(),
			"error InvalidMetricSourceType"},
		"a metric that nobody asked for": {func() Question { q := ask(10, cluster("east", 10)); q.Metrics = nil; return q }(),
			"error FailedGetResourceMetric"},
		"behavior that says nothing of a side": {func() Question {
			q := growing(1, 10).use("east", 1)
			return q
		}(), "10 ScaleDownLimit"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { check(t, Decide(tc.question), tc.want) })
	}
}

func TestShareOfNoReplicasIsTheWhole(t *testing.T) {
	q := ask(5, cluster("east", 5)).with(externalOf(share("1")), 3000)
	q.Scale.StatusReplicas = 0
	d := Decide(q).Scaled(start)
	if got := d.Status.CurrentMetrics[0].External.Current.AverageValue; got.Cmp(resource.MustParse("3")) != 0 || d.Replicas != 3 {
		t.Errorf("%v for each of no replicas, and %d to be", got, d.Replicas)
	}
}

func TestShareBeyondTheBoundIsTheBound(t *testing.T) {
	d := Decide(ask(10, cluster("east", 10)).with(externalOf(share("1")), math.MaxInt64, 5)).Scaled(start)
	if got := d.Status.CurrentMetrics[0].External.Current.AverageValue.MilliValue(); got != math.MaxInt64 {
		t.Errorf("the share is %d", got)
	}
}

func TestFaultsOfTheSpecAreTold(t *testing.T) {
	var spec SpecError
	if err := Decide(ask(10, cluster("east", 10)).with(autoscalingv2.MetricSpec{Type: "Weather"})).Err; !errors.As(err, &spec) ||
		spec.Unwrap() == nil {
		t.Errorf("an unknown type of metric is no fault of the spec: %v", err)
	}
	if err := Decide(ask(10, cluster("east", 10))).Err; err == nil || errors.As(err, &spec) {
		t.Errorf("a missing sample is a fault of the spec: %v", err)
	}
}

func TestWhatCanNotBeDecidedStays(t *testing.T) {
	d := Decide(ask(10, cluster("east", 10)))
	if d.Err == nil || d.Rescale || d.Replicas != 10 {
		t.Fatalf("%d replicas, rescale %v, error %v", d.Replicas, d.Rescale, d.Err)
	}
	if said := d.Err.Error(); !strings.Contains(said, "first error is: failed to get cpu resource metric value: ") {
		t.Errorf("it does not say what for: %s", said)
	}
}

// What stays is reported as it is; what changes, only once it has been written.
func TestStatusOfADecision(t *testing.T) {
	for load, want := range map[int64]int32{55: 10, 75: 0} {
		status := Decide(ask(10, cluster("east", 10)).use("east", load)).Status
		if status.CurrentReplicas != want || status.DesiredReplicas != want || len(status.CurrentMetrics) != int(want/10) {
			t.Errorf("at %d %% of the requests: %d of %d replicas, metrics %v", load, status.CurrentReplicas, status.DesiredReplicas,
				status.CurrentMetrics)
		}
	}
}

func TestNeedsMetrics(t *testing.T) {
	gone := ask(10)
	gone.Scale.Err = errors.New("gone")
	for want, questions := range map[bool][]Question{true: {ask(10), ask(1), ask(100)}, false: {ask(0), ask(101), gone}} {
		for _, q := range questions {
			if q.NeedsMetrics() != want {
				t.Errorf("%d replicas (%v): metrics needed %v", q.Scale.Replicas, q.Scale.Err, !want)
			}
		}
	}
}

func TestExplanation(t *testing.T) {
	q := ask(10, cluster("west", 5, silent, assigned(6)), cluster("east", 5, assigned(7))).use("east", 300)
	q.Clusters[1].Pods[0].Terminating = true
	pods := []PodCount{{Cluster: "east", Ignored: 1, Unready: 3, Counted: 4, Used: 6000, Requests: 2000}, {Cluster: "west", Missing: 6}}
	want := Explanation{
		Metrics: []Proposal{{Metric: "cpu resource utilization (percentage of request)", Replicas: 24, Pods: pods, Working: Working{
			Rule: RuleUtilization, Target: 50, ToleranceDown: 0.1, ToleranceUp: 0.1, Replicas: 10, Asks: 24, Outcome: OutcomeScaled,
			Value: 300, Second: 92, Refilled: true, Idle: true, Unready: true, Entries: 13,
			Told: Told{Clusters: pods, Sums: Sums{
				Ignored: 1, Unready: 3, Missing: 6, Counted: 4, Used: 6000, Requests: 2000, UnreadyRequests: 1500, MissingRequests: 3000,
				Busy: 3000, ByRequest: []Requested{{Request: 500, Pods: 6}},
			}},
		}}},
		Metric: "cpu resource utilization (percentage of request)", Asked: 24, Recommended: 24, Stabilized: 24,
		Window: Window{Down: 5 * time.Minute}, Rate: Rate{Limit: 20}, Limited: 20, Basis: BasisMetrics,
		Unseen: []Unseen{{"west", fleet.ReasonTimeout}}, Reason: "cpu resource utilization (percentage of request) above target",
	}
	same(t, "explanation", want, Decide(q).Explanation)
}

func TestRequests(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := container("proxy", "100m", "1Gi")
	sidecar.RestartPolicy = &always
	level := func(name corev1.ResourceName, q string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: corev1.ResourceList{name: resource.MustParse(q)}}
	}
	overhead := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	one, init := container("app", "500m", "1Gi"), container("init", "2", "1Gi")
	tests := map[string]struct {
		spec      corev1.PodSpec
		container string
		want      string
	}{
		"all containers": {corev1.PodSpec{Containers: []corev1.Container{one, container("b", "1", "1")},
			Overhead: overhead}, "", "1500"},
		"one container": {corev1.PodSpec{Containers: []corev1.Container{one, container("b", "1", "1")}}, "b", "1000"},
		"with sidecars": {corev1.PodSpec{Containers: []corev1.Container{one},
			InitContainers: []corev1.Container{sidecar, init}}, "", "600"},
		"the sidecar": {corev1.PodSpec{Containers: []corev1.Container{one},
			InitContainers: []corev1.Container{sidecar, init}}, "proxy", "100"},
		"no init container": {corev1.PodSpec{Containers: []corev1.Container{one},
			InitContainers: []corev1.Container{init}}, "init", "container init not found in Pod p"},
		"no request": {corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}, "",
			"missing request for cpu in container app of Pod p"},
		"no request, and not asked": {corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}, one}}, "app",
			"missing request for cpu in container app of Pod p"},
		"of the Pod, with overhead": {corev1.PodSpec{Containers: []corev1.Container{one}, Resources: level("cpu", "2"),
			Overhead: overhead}, "", "2010"},
		"of the Pod, for another resource": {corev1.PodSpec{Containers: []corev1.Container{one}, Resources: level("memory", "2")}, "",
			"500"},
		"of the Pod, the peak of its init": {corev1.PodSpec{Containers: []corev1.Container{one},
			InitContainers: []corev1.Container{sidecar, init}, Resources: level("memory", "2")}, "", "2100"},
		"of the Pod, and its containers have none": {corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}},
			Resources: level("memory", "2")}, "", "missing pod-level request for cpu in Pod p"},
		"of the Pod, what cannot be": {corev1.PodSpec{Containers: []corev1.Container{one}, Resources: level("example.com/gpu", "2"),
			Overhead: overhead}, "", "500"},
		"of the Pod, and one container is meant": {corev1.PodSpec{Containers: []corev1.Container{one}, Resources: level("cpu", "2")}, "app",
			"500"},
		"in nanos, rounded up": {corev1.PodSpec{Containers: []corev1.Container{container("app", "123456789n", "1")}}, "", "124"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := RequestsOf(&tc.spec).of(need{resource: corev1.ResourceCPU, container: tc.container}, "p")
			said := fmt.Sprint(got)
			if err != nil {
				said = err.Error()
			}
			same(t, "requests", tc.want, said)
		})
	}
}
