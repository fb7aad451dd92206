// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// fakeFleet are the clusters by name.
type fakeFleet struct {
	clusters  map[string]*fakeCluster
	unsettled error
}

// fakeCluster is one of them.
type fakeCluster struct {
	federatedhpatest.Member
	room   int32    // for further replicas; -1: nobody knows
	owners []string // HorizontalPodAutoscalers of the Deployment
}

// newFleet has clusters that run so many replicas of the Deployment; -1: they lack it.
func newFleet(runs map[string]int32) *fakeFleet {
	f, w := &fakeFleet{clusters: map[string]*fakeCluster{}}, &federatedhpatest.World{}
	for name, n := range runs {
		f.clusters[name] = &fakeCluster{Member: federatedhpatest.NewMember(w, name), room: -1}
		if n >= 0 {
			f.clusters[name].run(n)
		}
	}
	return f
}

func (f *fakeFleet) Settled() error               { return f.unsettled }
func (f *fakeFleet) Clusters() []workload.Cluster { return federatedhpatest.Clusters(f.clusters) }

// runs is what each cluster runs.
func (f *fakeFleet) runs() map[string]int32 {
	n := map[string]int32{}
	for name, c := range f.clusters {
		if n[name] = -1; c.Workloads[deployment.Name] != nil {
			n[name] = c.Workloads[deployment.Name].Replicas
		}
	}
	return n
}

// run is what somebody else has it do.
func (c *fakeCluster) run(n int32) {
	c.Workloads[deployment.Name] = federatedhpatest.NewWorkload(deployment.Name, n)
}

// refuse has it take no replicas, for that reason.
func (c *fakeCluster) refuse(why error) { c.FailSet = func() error { return why } }

func (c *fakeCluster) Additional(
	context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured,
) (int32, bool) {
	return c.room, c.room >= 0
}

func (c *fakeCluster) Autoscalers(_ context.Context, namespace string) workload.Autoscalers {
	found := workload.Autoscalers{Known: true}
	for _, name := range c.owners {
		own := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		own.Spec.ScaleTargetRef = deployment
		found.Objects = append(found.Objects, own)
	}
	return found
}

// programOf is a program that knows these clusters.
func (s *sim) programOf(f *fakeFleet) *Reconciler {
	s.webhook = true
	program := s.program()
	program.Fleet, program.PropagationGrace = &selection.Reader{Fleet: f, Timeout: time.Second}, 5*time.Minute
	return program
}

// admitted is the object with the copy of its fields that the webhook makes.
func admitted(object *v1alpha1.CronFederatedHPA) *v1alpha1.CronFederatedHPA {
	speccopy.Keep(object, speccopy.Of(object))
	return object
}

// told is what the status says of the runs of the only rule, the newest last, and of the conditions that matter.
func (s *sim) told() string {
	object := s.cron()
	history := object.Status.ExecutionHistories[0]
	var words []string
	for _, e := range history.SuccessfulExecutions {
		words = append(words, fmt.Sprint("Succeeded ", *e.AppliedReplicas))
	}
	for _, e := range history.FailedExecutions {
		words = append(words, "Failed: "+e.Message)
	}
	for _, c := range object.Status.Conditions {
		if c.Type == v1alpha1.CronTargetFound && c.Status != metav1.ConditionTrue || c.Type == v1alpha1.CronConflicting &&
			c.Status == metav1.ConditionTrue {
			words = append(words, fmt.Sprintf("%s %s: %s", c.Type, c.Reason, c.Message))
		}
	}
	return strings.Join(words, "; ")
}

// What a run does to a workload that the hub lacks.
func TestRunInMembers(t *testing.T) {
	const seven = "Succeeded 7"
	tests := map[string]struct {
		runs    map[string]int32
		arrange func(*fakeFleet)
		want    map[string]int32
		told    string
	}{
		"out":             {map[string]int32{"a": 2, "b": 1}, nil, map[string]int32{"a": 5, "b": 2}, seven},
		"in":              {map[string]int32{"a": 20, "b": 10}, nil, map[string]int32{"a": 5, "b": 2}, seven},
		"it is so":        {map[string]int32{"a": 1, "b": 6}, nil, map[string]int32{"a": 1, "b": 6}, seven},
		"from zero":       {map[string]int32{"a": 0, "b": 0}, nil, map[string]int32{"a": 4, "b": 3}, seven},
		"a cluster lacks": {map[string]int32{"a": 2, "b": -1}, nil, map[string]int32{"a": 7, "b": -1}, seven},
		"nobody has it": {map[string]int32{"a": -1, "b": -1}, nil, map[string]int32{"a": -1, "b": -1},
			`TargetFound NotFound: there is no Deployment "shop" in the namespace on the hub, and none of the 2 clusters can scale it: ` +
				"a: TargetNotFound, b: TargetNotFound"},
		"nobody of many has it": {map[string]int32{"a": -1, "b": -1, "c": -1, "d": -1, "e": -1, "f": -1, "g": -1}, nil,
			map[string]int32{"a": -1, "b": -1, "c": -1, "d": -1, "e": -1, "f": -1, "g": -1},
			`TargetFound NotFound: there is no Deployment "shop" in the namespace on the hub, and none of the 7 clusters can scale it: ` +
				"a: TargetNotFound, b: TargetNotFound, c: TargetNotFound, d: TargetNotFound, e: TargetNotFound, and 2 more"},
		"one is silent, and was never seen": {map[string]int32{"a": 2, "b": 5},
			func(f *fakeFleet) { f.clusters["b"].Silent = federatedhpatest.Silence() },
			map[string]int32{"a": 7, "b": 5}, seven},
		"all are silent": {map[string]int32{"a": 2}, func(f *fakeFleet) { f.clusters["a"].Silent = federatedhpatest.Silence() },
			map[string]int32{"a": 2},
			`TargetFound NotFound: there is no Deployment "shop" in the namespace on the hub, and none of the 1 clusters can scale it: a: Timeout`},
		"one has an autoscaler": {map[string]int32{"a": 2, "b": 1}, func(f *fakeFleet) { f.clusters["b"].owners = []string{"own"} },
			map[string]int32{"a": 2, "b": 1},
			"Failed: cluster b: the workload is scaled there by HorizontalPodAutoscaler shop/own: delete that, or make a FederatedHPA of it and " +
				"name that in scaleTargetRef; Conflicting AutoscaledInMember: cluster b: the workload is scaled there by HorizontalPodAutoscaler " +
				"shop/own: delete that, or make a FederatedHPA of it and name that in scaleTargetRef"},
		"one refuses": {map[string]int32{"a": 2, "b": 1}, func(f *fakeFleet) {
			f.clusters["b"].refuse(apierrors.NewForbidden(schema.GroupResource{}, "shop", errors.New("no")))
		}, map[string]int32{"a": 5, "b": 1}, `Failed: setting Deployment "shop": cluster b: forbidden: no`},
		"not all clusters are known": {map[string]int32{"a": 2}, func(f *fakeFleet) { f.unsettled = errors.New("wait") },
			map[string]int32{"a": 2}, `TargetFound Unreachable: reading Deployment "shop": wait`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)))
			f := newFleet(tc.runs)
			if tc.arrange != nil {
				tc.arrange(f)
			}
			program := s.programOf(f)
			s.reconcileAt(program, "08:00")
			s.reconcileAt(program, "09:00")
			fleettest.Same(t, "replicas", tc.want, f.runs())
			fleettest.Same(t, "told", tc.told, s.told())
			before := s.told()
			s.reconcileAt(program, "09:00:01")
			if tc.told == seven && s.told() != before {
				t.Errorf("later: %s", s.told())
			}
		})
	}
}

// prefers is a preference for one cluster.
func prefers(cluster string, change func(*v1alpha1.TargetClusterAutoscalingPreference)) v1alpha1.TargetClusterAutoscalingPreference {
	p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{cluster}}}
	change(&p)
	return p
}

// Where the spec says who takes part and how, a run divides the replicas as a FederatedHPA would.
func TestRunDividesInMembers(t *testing.T) {
	type preference = v1alpha1.TargetClusterAutoscalingPreference
	divides := func(kind v1alpha1.ReplicaDistributionType, preferences ...preference) func(*v1alpha1.CronFederatedHPASpec) {
		return func(s *v1alpha1.CronFederatedHPASpec) {
			s.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: kind, ClusterAutoscalingPreference: preferences}
		}
	}
	weighs := func(n int32) func(*preference) { return func(p *preference) { p.StaticWeight = &n } }
	most := func(n int32) func(*preference) { return func(p *preference) { p.AutoscalingMaxThreshold = &n } }
	only := func(names ...string) func(*v1alpha1.CronFederatedHPASpec) {
		return func(s *v1alpha1.CronFederatedHPASpec) {
			s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: names}
		}
	}
	const ten = "Succeeded 10"
	const oddOperator = "spec.replicaDistribution: reading clusterAutoscalingPreference[0].targetCluster: reading labelSelector: " +
		`"Odd" is not a valid label selector operator`
	tests := map[string]struct {
		runs    map[string]int32
		spec    func(*v1alpha1.CronFederatedHPASpec)
		arrange func(*fakeFleet)
		want    map[string]int32
		told    string
	}{
		"in the clusters that it selects": {map[string]int32{"a": 1, "b": 4}, only("a"), nil, map[string]int32{"a": 10, "b": 4}, ten},
		"it selects none": {map[string]int32{"a": 1, "b": 4}, only("c"), nil, map[string]int32{"a": 1, "b": 4},
			`Failed: there is no Deployment "shop" in the namespace on the hub, and none of the 2 clusters takes part: correct ` +
				"clusterAffinity and replicaDistribution, or whatever places the workload; TargetFound NotFound: there is no Deployment \"shop\" in " +
				"the namespace on the hub, and none of the 2 clusters takes part: correct clusterAffinity and replicaDistribution, or whatever " +
				"places the workload"},
		"equally, though the type is not written": {map[string]int32{"a": 1, "b": 0}, divides(""), nil, map[string]int32{"a": 5, "b": 5}, ten},
		"by weight, where one has none": {map[string]int32{"a": 1, "b": 1, "c": 3},
			divides(v1alpha1.DistributionStaticWeighted, prefers("a", weighs(4)), prefers("b", weighs(1))), nil,
			map[string]int32{"a": 8, "b": 2, "c": 3}, ten},
		"what runs does not move": {map[string]int32{"a": 1, "b": 7}, divides(v1alpha1.DistributionStaticWeighted), nil,
			map[string]int32{"a": 3, "b": 7}, ten},
		"by priority, as far as they have room": {map[string]int32{"a": 1, "b": 1},
			divides(v1alpha1.DistributionPrioritized, prefers("a", func(p *preference) { p.Priority = new(int32(1)) }),
				prefers("b", func(p *preference) { p.Priority = new(int32(2)) })),
			func(f *fakeFleet) { f.clusters["a"].room, f.clusters["b"].room = 50, 5 }, map[string]int32{"a": 4, "b": 6}, ten},
		"to as few as have room": {map[string]int32{"a": 0, "b": 0}, divides(v1alpha1.DistributionAggregated),
			func(f *fakeFleet) { f.clusters["a"].room, f.clusters["b"].room = 5, 50 }, map[string]int32{"a": 0, "b": 10}, ten},
		"by a preference that cannot be read": {map[string]int32{"a": 1, "b": 1},
			divides(v1alpha1.DistributionStaticWeighted, prefers("a", func(p *preference) {
				odd := []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Odd"}}
				p.TargetCluster = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchExpressions: odd}}
			})), nil, map[string]int32{"a": 1, "b": 1},
			`Failed: reading Deployment "shop": ` + oddOperator + `; TargetFound Unreachable: reading Deployment "shop": ` + oddOperator},
		"within thresholds": {map[string]int32{"a": 1, "b": 1},
			divides(v1alpha1.DistributionDynamicWeighted, prefers("a", most(3))), nil, map[string]int32{"a": 3, "b": 7}, ten},
		"beyond all thresholds": {map[string]int32{"a": 1, "b": 1},
			divides(v1alpha1.DistributionDynamicWeighted, prefers("a", most(3)), prefers("b", most(4))), nil, map[string]int32{"a": 3, "b": 4},
			`Failed: setting Deployment "shop": 3 of 10 replicas have no cluster: all that have the workload are cordoned, drained or at their ` +
				"autoscalingMaxThreshold"},
		"one is drained": {map[string]int32{"a": 2, "b": 2}, divides(v1alpha1.DistributionStaticWeighted),
			func(f *fakeFleet) { f.clusters["b"].Annotate(taints.DrainAnnotation) }, map[string]int32{"a": 10, "b": 0}, ten},
		"which is tolerated": {map[string]int32{"a": 2, "b": 2}, func(s *v1alpha1.CronFederatedHPASpec) {
			s.ClusterTolerations = []corev1.Toleration{{Key: taints.DrainAnnotation, Operator: corev1.TolerationOpExists}}
		}, func(f *fakeFleet) { f.clusters["b"].Annotate(taints.DrainAnnotation) }, map[string]int32{"a": 5, "b": 5}, ten},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := newCron(deployment, sets("r", "0 9 * * *", 10))
			tc.spec(&object.Spec)
			s, f := newSim(t, moment(t, "08:00"), admitted(object)), newFleet(tc.runs)
			if tc.arrange != nil {
				tc.arrange(f)
			}
			program := s.programOf(f)
			for _, at := range []string{"08:00", "09:00", "09:00:02", "09:10:01"} {
				s.reconcileAt(program, at)
			}
			fleettest.Same(t, "replicas", tc.want, f.runs())
			fleettest.Same(t, "told", tc.told, s.told())
		})
	}
}

// Who propagates a workload of the hub divides it. That is said before the first run, and ends with the cause.
func TestRunCannotDivideOnTheHub(t *testing.T) {
	object := newCron(deployment, sets("r", "0 9 * * *", 7))
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: v1alpha1.DistributionStaticWeighted}
	s := newSim(t, moment(t, "08:00"), admitted(object), newDeployment(3))
	f := newFleet(map[string]int32{"a": 2, "b": 1})
	program := s.programOf(f)
	const message = `Deployment "shop" is on the hub, where whoever propagates it divides its replicas: remove spec.replicaDistribution, or ` +
		"delete the workload on the hub; or make a FederatedHPA with replicaDistribution, and name that in scaleTargetRef"
	s.reconcileAt(program, "08:00")
	if want := "TargetFound OnHub: " + message; s.told() != want {
		t.Errorf("before: %s", s.told())
	}
	s.reconcileAt(program, "09:00")
	if want := "Failed: " + message + "; TargetFound OnHub: " + message; s.told() != want || s.replicas() != 3 {
		t.Errorf("%d replicas, and %s", s.replicas(), s.told())
	}
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.ReplicaDistribution = nil })
	s.reconcileAt(program, "09:01")
	if want := "Failed: " + message; s.told() != want {
		t.Errorf("after an edit: %s", s.told())
	}
}

// A plan is of one spec: what is retried after an edit is divided again.
func TestEditBetweenTriesInMembers(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 20)))
	f := newFleet(map[string]int32{"a": 5, "b": 5})
	program := s.programOf(f)
	s.reconcileAt(program, "08:00")
	f.clusters["b"].refuse(errors.New("503"))
	s.reconcileAt(program, "09:00")
	f.clusters["b"].refuse(nil)
	s.edit(func(spec *v1alpha1.CronFederatedHPASpec) {
		spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{ClusterAutoscalingPreference: []v1alpha1.TargetClusterAutoscalingPreference{
			prefers("a", func(p *v1alpha1.TargetClusterAutoscalingPreference) { p.StaticWeight = new(int32(3)) }),
			prefers("b", func(p *v1alpha1.TargetClusterAutoscalingPreference) { p.StaticWeight = new(int32(1)) })}}
	})
	s.reconcileAt(program, "09:00:05")
	if diff := cmp.Diff(map[string]int32{"a": 15, "b": 5}, f.runs()); diff != "" || s.told() != "Succeeded 20" {
		t.Errorf("replicas (-want +got):\n%s%s", diff, s.told())
	}
}

// Rules go up and down, while a cluster is silent and back: its part counts, and it keeps it.
func TestSilentInMembers(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("up", "0 9 * * *", 30), sets("down", "0 10 * * *", 12)))
	f := newFleet(map[string]int32{"a": 4, "b": 2})
	program := s.programOf(f)
	s.reconcileAt(program, "08:00")
	s.reconcileAt(program, "09:00")
	f.clusters["b"].Silent = federatedhpatest.Silence()
	s.reconcileAt(program, "10:00")
	fleettest.Same(t, "replicas", map[string]int32{"a": 2, "b": 10}, f.runs())
}

// A cluster that cannot be told has its part when it can: the others do not make up for it.
func TestToldLaterInMembers(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 20)))
	f := newFleet(map[string]int32{"a": 5, "b": 5})
	program := s.programOf(f)
	s.reconcileAt(program, "08:00")
	f.clusters["b"].refuse(errors.New("503"))
	for _, at := range []string{"09:00", "09:00:02", "09:00:05"} {
		s.reconcileAt(program, at)
	}
	if diff := cmp.Diff(map[string]int32{"a": 10, "b": 5}, f.runs()); diff != "" || s.told() != "" {
		t.Errorf("while it refuses, replicas (-want +got):\n%s%s", diff, s.told())
	}
	f.clusters["b"].refuse(nil)
	s.reconcileAt(program, "09:00:10")
	if diff := cmp.Diff(map[string]int32{"a": 10, "b": 10}, f.runs()); diff != "" || s.told() != "Succeeded 20" {
		t.Errorf("later, replicas (-want +got):\n%s%s", diff, s.told())
	}
}

// A workload on the hub is set there; the run has succeeded once clusters follow.
func TestRunOnTheHub(t *testing.T) {
	const nobody = `Failed: Deployment "shop" on the hub specifies 7 replicas, and those in the 2 selected clusters 3 in total: have it ` +
		"propagated to them and its replicas divided, as Karmada does, or delete it on the hub, and the replicas are set in the " +
		"clusters that have it"
	tests := map[string]struct {
		follow func(*fakeFleet)
		told   string
	}{
		"nobody propagates":   {func(*fakeFleet) {}, nobody},
		"somebody does":       {func(f *fakeFleet) { f.clusters["a"].run(4); f.clusters["b"].run(3) }, "Succeeded 7"},
		"somebody duplicates": {func(f *fakeFleet) { f.clusters["a"].run(7); f.clusters["b"].run(7) }, "Succeeded 7"},
		"somebody begins":     {func(f *fakeFleet) { f.clusters["a"].run(3) }, "Succeeded 7"},
		"a cluster is silent": {func(f *fakeFleet) { f.clusters["b"].Silent = federatedhpatest.Silence() },
			strings.Replace(nobody, "3 in total", "2 in total (b did not answer)", 1)},
		"one gets an autoscaler": {func(f *fakeFleet) { f.clusters["a"].owners = []string{"own"} },
			"Failed: cluster a: the workload is scaled there by HorizontalPodAutoscaler shop/own: delete that, or make a FederatedHPA of it and " +
				"name that in scaleTargetRef; Conflicting AutoscaledInMember: cluster a: the workload is scaled there by HorizontalPodAutoscaler " +
				"shop/own: delete that, or make a FederatedHPA of it and name that in scaleTargetRef"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3))
			f := newFleet(map[string]int32{"a": 2, "b": 1})
			program := s.programOf(f)
			s.reconcileAt(program, "08:00")
			s.reconcileAt(program, "09:00")
			if s.replicas() != 7 || s.told() != "" {
				t.Fatalf("at once: %d replicas, %q", s.replicas(), s.told())
			}
			tc.follow(f)
			for at := moment(t, "09:00:05"); at.Before(moment(t, "09:05:30")); at = at.Add(5 * time.Second) {
				s.reconcileAt(program, at.Format("15:04:05"))
			}
			fleettest.Same(t, "told", tc.told, s.told())
		})
	}
}

// Clusters are asked with each run for what is nowhere, and between runs less and less often.
func TestNowhereIsSeldomAsked(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)))
	f := newFleet(map[string]int32{"a": -1})
	program := s.programOf(f)
	for at := moment(t, "08:00"); at.Before(moment(t, "09:00")); at = at.Add(30 * time.Second) {
		s.reconcileAt(program, at.Format("15:04:05"))
	}
	if n := f.clusters["a"].Reads; n < 12 || n > 18 {
		t.Errorf("the cluster was asked %d times in an hour", n)
	}
	f.clusters["a"].run(1)
	s.reconcileAt(program, "09:00")
	if s.told() != "Succeeded 7" || f.runs()["a"] != 7 {
		t.Errorf("%s, and %d replicas", s.told(), f.runs()["a"])
	}
}

// What is gone again is asked for soon, as what was never there.
func TestGoneInMembersIsAskedForSoon(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)))
	f := newFleet(map[string]int32{"a": -1})
	program := s.programOf(f)
	s.reconcileAt(program, "08:00")
	f.clusters["a"].run(1)
	s.reconcileAt(program, "08:01")
	clear(f.clusters["a"].Workloads)
	f.clusters["a"].Reads = 0
	s.reconcileAt(program, "09:00")
	s.reconcileAt(program, "09:00:30")
	if n := f.clusters["a"].Reads; n != 2 {
		t.Errorf("the cluster was asked %d times, want twice", n)
	}
}

// Where a workload was found is for people.
func TestWhereItWasFound(t *testing.T) {
	has, lacks := selection.Cluster{Scale: &autoscalingv1.Scale{}}, selection.Cluster{}
	away := selection.Cluster{Silence: federatedhpatest.Silence()}
	away.Facts.Name = "c"
	for want, clusters := range map[string][]selection.Cluster{
		" in 1 cluster":                       {has, lacks},
		" in 2 clusters (c did not answer)":   {has, has, away},
		" in 1 cluster (c, c did not answer)": {has, away, away},
	} {
		found := inMembers{object: newCron(deployment), clusters: clusters, memory: &fleetMemory{}}
		fleettest.Same(t, "found", want, found.state().Where)
	}
}

// How replicas were to be divided for a run that was given up does not matter to the next one.
func TestRunInMembersAfterOneThatWasGivenUp(t *testing.T) {
	object := newCron(deployment, sets("r", "0 9 * * *", 7))
	object.Spec.Rules[0].MaxDelaySeconds = new(int64(60))
	s := newSim(t, moment(t, "08:00"), admitted(object))
	f := newFleet(map[string]int32{"a": 2, "b": 1})
	f.clusters["b"].refuse(errors.New("no"))
	program := s.programOf(f)
	for _, at := range []string{"08:00", "09:00", "09:02"} {
		s.reconcileAt(program, at)
	}
	f.clusters["b"].FailSet = nil
	f.clusters["a"].run(10)
	f.clusters["b"].run(100)
	s.reconcileAt(program, "2027-03-02 09:00:00")
	fleettest.Same(t, "replicas", map[string]int32{"a": 1, "b": 6}, f.runs())
}

// An autoscaler in a cluster is known until the target is read again.
func TestConflictInMemberIsKept(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)))
	f := newFleet(map[string]int32{"a": 1})
	f.clusters["a"].owners = []string{"own"}
	program := s.programOf(f)
	conflicting := func(at string) bool {
		s.reconcileAt(program, at)
		return meta.IsStatusConditionTrue(s.cron().Status.Conditions, v1alpha1.CronConflicting)
	}
	if !conflicting("08:00") || !conflicting("08:01") {
		t.Error("the autoscaler is not seen")
	}
	f.clusters["a"].owners = nil
	if conflicting("09:00") || f.runs()["a"] != 7 {
		t.Errorf("%s, and %d replicas", s.told(), f.runs()["a"])
	}
}
