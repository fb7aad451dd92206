// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

func listOf(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]string{"cpu": cpu, "memory": memory} {
		if amount != "" {
			list[name] = resource.MustParse(amount)
		}
	}
	return list
}

func TestSilences(t *testing.T) {
	known, silence := pods.SizedListing{Known: true}, &fleet.Silence{Reason: fleet.ReasonForbidden}
	for want, c := range map[fleet.Reason]cluster{
		"": {pods: known, uses: hubmetrics.ClusterUses{Outcome: hubmetrics.Answered}},
		fleet.ReasonForbidden: {pods: pods.SizedListing{Known: true, Silent: silence},
			uses: hubmetrics.ClusterUses{Outcome: hubmetrics.Answered}},
		fleet.ReasonTimeout: {uses: hubmetrics.ClusterUses{Outcome: hubmetrics.Answered}},
	} {
		got := fleet.Reason("")
		if s := c.silent(); s != nil {
			got = s.Reason
		}
		same(t, "reason", want, got)
	}
	for outcome, want := range map[hubmetrics.Outcome]string{
		hubmetrics.Absent: "it does not serve metrics.k8s.io", hubmetrics.Missing: "the hub's metrics API does not know it",
	} {
		c := cluster{pods: known, uses: hubmetrics.ClusterUses{Outcome: outcome}}
		same(t, "detail", &fleet.Silence{Reason: reasonNoMetrics, Detail: want}, c.silent())
	}
}

// Pods that end or have ended do not count; those that wait for a node do.
func TestRunning(t *testing.T) {
	c := cluster{}
	for _, p := range []replicas.Pod{{Name: "a", Phase: corev1.PodRunning}, {Name: "b", Phase: corev1.PodPending},
		{Name: "c", Phase: corev1.PodFailed}, {Name: "d", Phase: corev1.PodSucceeded}, {Name: "e", Phase: corev1.PodRunning, Terminating: true}} {
		c.pods.Pods = append(c.pods.Pods, pods.SizedPod{Pod: p})
	}
	names := ""
	for _, p := range c.running() {
		names += p.Name
	}
	same(t, "running", "ab", names)
}

func TestResources(t *testing.T) {
	none := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	limits := &capacity.LimitRanges{Known: true, DefaultRequests: pods.Resources{MilliCPU: 7, Memory: 8},
		DefaultLimits: pods.Resources{MilliCPU: 70, Memory: 80}}
	unknown := &capacity.LimitRanges{DefaultRequests: limits.DefaultRequests, DefaultLimits: limits.DefaultLimits}
	without := &capacity.LimitRanges{Known: true, DefaultRequests: none, DefaultLimits: none}
	tests := map[string]struct {
		requests, limits corev1.ResourceList
		of               *capacity.LimitRanges
		want             sizes.Resources
		guaranteed       bool
	}{
		"as written": {listOf("1m", "2"), listOf("3m", "4"), limits,
			sizes.Resources{Requests: sizes.Amounts{1, 2}, Limits: sizes.Amounts{3, 4}}, false},
		"requests as limits": {nil, listOf("3m", "4"), limits, sizes.Resources{Requests: sizes.Amounts{3, 4}, Limits: sizes.Amounts{3, 4}}, true},
		"by LimitRanges":     {nil, nil, limits, sizes.Resources{Requests: sizes.Amounts{7, 8}, Limits: sizes.Amounts{70, 80}}, false},
		"by none known":      {nil, nil, unknown, recommendation.NoDefaults(), false},
		"by none":            {nil, nil, without, recommendation.NoDefaults(), false},
		"nothing":            {listOf("0", "0"), listOf("0", "0"), unknown, sizes.Resources{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q := recommendation.Question{Spec: &v1alpha1.MultidimPodAutoscalerSpec{}, Clusters: []recommendation.Cluster{
				{Defaults: defaultsOf(tc.of)}}}
			q.Template = recommendation.TemplateOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app",
				Resources: corev1.ResourceRequirements{Requests: tc.requests, Limits: tc.limits}}}})
			got := q.Sizes(nil).Clusters[0].Template
			same(t, "resources", tc.want, got.Containers[0].Resources)
			same(t, "guaranteed", tc.guaranteed, got.Guaranteed)
		})
	}
}

// What initializes a Pod and runs on is not sized, and takes of what the Pod may have, as overhead does.
func TestSidecars(t *testing.T) {
	always := new(corev1.ContainerRestartPolicyAlways)
	full := func(amount string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: listOf(amount, amount), Limits: listOf(amount, amount)}
	}
	in := situation{Object: object(withGoal), template: &template{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Overhead:   listOf("1", "1"),
		Containers: []corev1.Container{{Name: "app", Resources: full("4")}},
		InitContainers: []corev1.Container{{Name: "init", Resources: full("16")}, {Name: "side", Resources: full("2"), RestartPolicy: always},
			{Name: "once", Resources: full("32"), RestartPolicy: new(corev1.ContainerRestartPolicyNever)}},
	}}}}
	v1alpha1.DefaultMultidimPodAutoscaler(in.Object)
	same(t, "fixed", sizes.Resources{Requests: sizes.Amounts{3000, 3}, Limits: sizes.Amounts{3000, 3}}, in.template.fixed())
	q := in.question()
	same(t, "containers", 2, len(q.Template.Running()))
	result, _ := q.Goals()
	same(t, "target", "3", result.Spec.Metrics[0].Resource.Target.AverageValue.String())
	admitted := q.Sizes(nil).Template
	same(t, "guaranteed", true, admitted.Guaranteed)
	same(t, "least limit", int64(3600), admitted.Containers[0].GoalLimit[sizes.CPU])
	in.template.Spec.InitContainers[0].Resources.Requests = listOf("1", "1")
	same(t, "guaranteed, but for what initializes it", false, in.question().Sizes(nil).Template.Guaranteed)
	same(t, "the sidecar is sized", false, in.question().Sizable().Sized("side", corev1.ResourceCPU))
}

// The cost is known if it is in every cluster with Pods.
func TestPriced(t *testing.T) {
	s := sized{priced: true}
	s.add(&sized{pods: 1, priced: true})
	s.add(&sized{})
	same(t, "without Pods", true, s.priced)
	s.add(&sized{pods: 1})
	same(t, "with Pods", false, s.priced)
	s.add(&sized{pods: 1, priced: true})
	same(t, "afterwards", false, s.priced)
}

// A quota is divided among the replicas that are to come, too; LimitRanges of Pods bound them together.
func TestRoom(t *testing.T) {
	in := situation{Object: object(), child: &v1alpha1.FederatedHPA{}}
	in.child.OwnerReferences = append(in.child.OwnerReferences, metav1.OwnerReference{UID: in.Object.UID, Controller: new(true)})
	in.child.Status.Clusters = []v1alpha1.ClusterStatus{{Name: "east", AssignedReplicas: new(int32(4))}}
	c := cluster{name: "east", quota: capacity.QuotaLeft{Known: true, Requests: pods.Resources{MilliCPU: 100, Memory: pods.None},
		Limits: pods.Resources{MilliCPU: 200, Memory: 1000}}}
	c.limits.Known = true
	c.limits.Container.Min.MilliCPU, c.limits.Pod.Max.Memory, c.limits.Pod.MaxRatio.CPU = 1, 2, 3
	room := c.rooms(&in)[0]
	same(t, "quota", sizes.Resources{Requests: sizes.Amounts{25, sizes.None}, Limits: sizes.Amounts{50, 250}}, room.Quota)
	same(t, "bounds", []int64{1, 2, 3}, []int64{room.Container.Min[sizes.CPU], room.Pod.Max[sizes.Memory], room.Pod.MaxRatio[sizes.CPU]})
}
