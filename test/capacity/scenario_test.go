// SPDX-License-Identifier: Apache-2.0

package capacity_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	gpu      = corev1.ResourceName("example.com/gpu")
	ofLabel  = "scenario" // on nodes, chosen by every Pod
	patient  = "patient"  // a class of high priority that preempts nobody
	hostname = corev1.LabelHostname
	zone     = corev1.LabelTopologyZone
)

// scenario is one small cluster within the cluster: nodes of its own, and a namespace.
type scenario struct {
	name       string
	nodes      []*corev1.Node
	pods       []*corev1.Pod // of others
	quota      *corev1.ResourceQuota
	deployment *appsv1.Deployment
	rules      int // between Pods
}

// dice makes scenarios.
type dice struct {
	*rand.Rand
	of string // the scenario's name
}

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// throw makes a scenario with so many rules between Pods.
func throw(seed uint64, rules int) *scenario {
	s := &scenario{name: fmt.Sprintf("s%d", seed), rules: rules}
	d := dice{rand.New(rand.NewPCG(seed, 0)), s.name}
	allReady := true
	for i := range 2 + d.IntN(6) {
		n := d.node(fmt.Sprintf("%s-node%d", s.name, i))
		allReady = allReady && n.Status.Conditions[0].Status == corev1.ConditionTrue
		s.nodes = append(s.nodes, n)
	}
	for i := range d.IntN(10) {
		s.pods = append(s.pods, d.pod(fmt.Sprintf("other%d", i), s.nodes))
	}
	// What waits comes last: it is tried when it comes, and again only some time after room has been made.
	waits := func(p *corev1.Pod) bool { return p.Spec.NodeName == "" }
	slices.SortStableFunc(s.pods, func(a, b *corev1.Pod) int {
		switch {
		case waits(a) == waits(b):
			return 0
		case waits(a):
			return 1
		default:
			return -1
		}
	})
	s.deployment = d.deployment(allReady)
	for range rules {
		d.rule(&s.deployment.Spec.Template.Spec)
	}
	if d.one(4) {
		s.quota = &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}}
		s.quota.Spec.Hard = corev1.ResourceList{podCount: count(len(s.pods) + d.IntN(15))}
	}
	return s
}

func milli(n int) resource.Quantity { return *resource.NewMilliQuantity(int64(n), resource.DecimalSI) }
func count(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
func mebi(n int) resource.Quantity  { return *resource.NewQuantity(int64(n)<<20, resource.BinarySI) }

func (d dice) node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{ofLabel: d.of, "disk": pick(d, "ssd", "hdd")}}}
	if !d.one(8) {
		n.Labels[hostname] = name
	}
	if !d.one(6) {
		n.Labels[zone] = d.of + pick(d, "-a", "-b", "-c")
	}
	n.Status.Allocatable = corev1.ResourceList{
		"cpu": milli(pick(d, 900, 1000, 2000, 4000)), "memory": mebi(pick(d, 100, 300, 1000)),
		"ephemeral-storage": mebi(pick(d, 0, 100, 200)), "pods": count(pick(d, 3, 6, 12)),
	}
	if d.one(2) {
		n.Status.Allocatable[gpu] = count(pick(d, 1, 5))
	}
	n.Status.Capacity = n.Status.Allocatable
	now := metav1.Now()
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Thrown", LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if d.one(8) {
		n.Status.Conditions[0].Status = corev1.ConditionFalse
	}
	if d.one(4) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: pick(d, "dedicated", "spot"), Value: "yes",
			Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)})
	}
	n.Spec.Unschedulable = d.one(8)
	return n
}

func (d dice) requests() corev1.ResourceList {
	list := corev1.ResourceList{}
	if !d.one(4) {
		list["cpu"] = milli(pick(d, 0, 100, 250, 300, 500))
	}
	if !d.one(3) {
		list["memory"] = mebi(pick(d, 0, 1, 20, 64))
	}
	if d.one(10) {
		list["ephemeral-storage"] = mebi(pick(d, 10, 30))
	}
	return list
}

func (d dice) container(name string) corev1.Container {
	c := corev1.Container{Name: name, Image: "none.example/none"}
	if d.one(4) {
		c.Resources.Limits = d.requests() // and requested, too
	} else {
		c.Resources.Requests = d.requests()
	}
	if d.one(15) {
		c.Resources.Limits = corev1.ResourceList{gpu: count(1)}
		for name, request := range c.Resources.Requests {
			c.Resources.Limits[name] = request
		}
	}
	return c
}

func (d dice) spec() corev1.PodSpec {
	s := corev1.PodSpec{NodeSelector: map[string]string{ofLabel: d.of}, Containers: []corev1.Container{d.container("main")}}
	if d.one(4) {
		s.Containers = append(s.Containers, d.container("second"))
	}
	if d.one(4) {
		s.InitContainers = append(s.InitContainers, d.container("first"))
		if d.one(2) {
			s.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
	}
	if d.one(4) {
		s.NodeSelector["disk"] = pick(d, "ssd", "hdd")
	}
	if d.one(3) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: pick(d, "dedicated", "spot"), Operator: corev1.TolerationOpExists,
			Effect: pick(d, "", corev1.TaintEffectNoSchedule)})
	}
	if d.one(5) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: zone, Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{d.of + "-a", d.of + "-b"},
			}}}},
		}}}
	}
	return s
}

// pod is one of others: bound, ended or waiting.
func (d dice) pod(name string, nodes []*corev1.Node) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "theirs", "tier": pick(d, "1", "2")}},
		Spec: d.spec()}
	if d.one(2) {
		p.Spec.PriorityClassName = patient
	}
	if !d.one(3) {
		p.Spec.NodeName = pick(d, nodes...).Name
		p.Spec.NodeSelector, p.Spec.Affinity = nil, nil
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} // or it would be evicted
		p.Status.Phase = pick(d, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed)
	}
	return p
}

// deployment has no replicas, or a few.
func (d dice) deployment(allReady bool) *appsv1.Deployment {
	ours := map[string]string{"app": "ours", "tier": "1"}
	o := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "ours"}}
	o.Spec.Replicas = new(pick(d, int32(0), 0, 1, 4))
	o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "ours"}}
	o.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: ours}, Spec: d.spec()}
	if d.one(6) {
		o.Spec.Template.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": milli(3000), "memory": mebi(600)}}
	}
	if allReady && d.one(8) { // a node that is not Ready takes Pods that tolerate it, and is left out on purpose
		o.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	return o
}

func (d dice) selector() *metav1.LabelSelector {
	return pick(d,
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "ours"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "ours"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}},
	)
}

func (d dice) rule(spec *corev1.PodSpec) {
	key := pick(d, hostname, zone)
	if d.one(2) {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{}
		}
		if spec.Affinity.PodAntiAffinity == nil {
			spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		terms := &spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: d.selector()})
		return
	}
	c := corev1.TopologySpreadConstraint{
		MaxSkew: int32(1 + d.IntN(3)), TopologyKey: key, LabelSelector: d.selector(), WhenUnsatisfiable: corev1.DoNotSchedule,
	}
	for _, other := range spec.TopologySpreadConstraints {
		if other.TopologyKey == key { // there may be one only
			return
		}
	}
	if d.one(4) {
		c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
	}
	if d.one(3) {
		c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
	}
	if d.one(5) {
		c.MinDomains = new(int32(1 + d.IntN(4)))
	}
	if d.one(5) && c.LabelSelector.MatchLabels["app"] == "ours" {
		c.MatchLabelKeys = []string{"pod-template-hash"}
	}
	spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
}
