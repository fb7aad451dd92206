// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const gpu = corev1.ResourceName("example.com/gpu")

// world is a cluster as the API server would tell it, and a workload in it.
type world struct {
	nodes    []*corev1.Node
	pods     []*corev1.Pod
	quotas   []corev1.ResourceQuota
	template *corev1.PodTemplateSpec
}

// ours are the Pods of the workload: app=ours in namespace shop.
func (w *world) ours() labels.Selector { return labels.SelectorFromSet(labels.Set{"app": "ours"}) }

func (w *world) estimate() int32 {
	return Estimate(
		Inventory{Nodes: recordsOf(w.nodes, NodeOf), Pods: recordsOf(w.pods, PodOf), Quotas: w.quotas},
		Workload{Namespace: "shop", Selector: w.ours(), Template: w.template},
	)
}

func recordsOf[O, R any](objects []*O, read func(*O) R) iter.Seq[*R] {
	records := make([]*R, 0, len(objects))
	for _, o := range objects {
		record := read(o)
		records = append(records, &record)
	}
	return slices.Values(records)
}

// dice makes worlds: small ones, in which everything is near its limit.
type dice struct{ *rand.Rand }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) world() *world {
	w := &world{template: d.template()}
	for i := range d.IntN(7) {
		w.nodes = append(w.nodes, d.node(fmt.Sprintf("node%d", i)))
	}
	for i := range d.IntN(14) {
		w.pods = append(w.pods, d.pod(fmt.Sprintf("pod%02d", i), len(w.nodes)))
	}
	if d.one(4) {
		w.quotas = append(w.quotas, quota(corev1.ResourceList{"pods": count(d.IntN(12)), "requests.cpu": milli(d.IntN(9000))}))
	}
	return w
}

func milli(n int) resource.Quantity { return *resource.NewMilliQuantity(int64(n), resource.DecimalSI) }
func count(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func (d dice) requests() corev1.ResourceList {
	list := corev1.ResourceList{}
	if !d.one(4) {
		list["cpu"] = milli(pick(d, 0, 250, 300, 500, 1000))
	}
	if !d.one(3) {
		list["memory"] = count(pick(d, 0, 1, 64, 100))
	}
	if d.one(6) {
		list["ephemeral-storage"] = count(pick(d, 10, 30))
	}
	if d.one(6) {
		list[gpu] = count(pick(d, 0, 1, 2))
	}
	return list
}

func (d dice) node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	n.Status.Allocatable = corev1.ResourceList{
		"cpu": milli(pick(d, 900, 1000, 2000, 4000)), "memory": count(pick(d, 100, 300, 1000)),
		"ephemeral-storage": count(pick(d, 0, 100)), "pods": count(pick(d, 0, 3, 5, 10)),
	}
	if d.one(3) {
		n.Status.Allocatable[gpu] = count(pick(d, 0, 1, 5))
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady,
		Status: pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue,
			corev1.ConditionUnknown)}}
	if !d.one(8) {
		n.Labels[corev1.LabelHostname] = name
	}
	if !d.one(6) {
		n.Labels[corev1.LabelTopologyZone] = pick(d, "a", "b", "c")
	}
	n.Labels["disk"] = pick(d, "ssd", "hdd")
	if d.one(3) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: pick(d, "dedicated", "spot"), Value: "yes",
			Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)})
	}
	n.Spec.Unschedulable = d.one(8)
	if d.one(15) {
		n.DeletionTimestamp = &metav1.Time{}
	}
	return n
}

func (d dice) constrain(spec *corev1.PodSpec) {
	if d.one(4) {
		spec.NodeSelector = map[string]string{"disk": pick(d, "ssd", "hdd")}
	}
	if d.one(3) {
		spec.Tolerations = append(spec.Tolerations,
			corev1.Toleration{Key: "dedicated", Operator: pick(d, corev1.TolerationOpEqual, corev1.TolerationOpExists),
				Effect: pick(d, "", corev1.TaintEffectNoSchedule)})
		if spec.Tolerations[0].Operator == corev1.TolerationOpEqual {
			spec.Tolerations[0].Value = pick(d, "yes", "no")
		}
	}
	if d.one(8) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	}
	if d.one(5) {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelTopologyZone, Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{"a", "b"},
			}}}},
		}}}
	}
}

func (d dice) pod(name string, nodes int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: pick(d, "shop", "shop", "other"),
		Labels: map[string]string{"app": pick(d, "ours", "theirs"), "tier": pick(d, "1", "2")},
	}}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: d.requests()}}}
	p.Spec.Priority = new(pick(d, int32(0), 10, -5))
	d.constrain(&p.Spec)
	if nodes > 0 && !d.one(3) {
		p.Spec.NodeName = fmt.Sprintf("node%d", d.IntN(nodes+1)) // the last one is not there
	}
	p.Status.Phase = pick(d, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed)
	if d.one(8) {
		p.DeletionTimestamp = &metav1.Time{}
	}
	return p
}

func (d dice) template() *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "ours", "tier": "1"}}}
	t.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: d.requests()}}}
	d.constrain(&t.Spec)
	return t
}

func (d dice) selector() *metav1.LabelSelector {
	return pick(d, nil,
		&metav1.LabelSelector{},
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "ours"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "ours", "tier": "1"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}},
		&metav1.LabelSelector{MatchLabels: map[string]string{"tier": "1"}},
	)
}

func (d dice) apart() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: d.domain(), LabelSelector: d.selector()}
	switch d.IntN(6) {
	case 0:
		t.Namespaces = []string{"other"}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	}
	return t
}

func (d dice) domain() string { return pick(d, corev1.LabelHostname, corev1.LabelTopologyZone) }

func (d dice) spread() corev1.TopologySpreadConstraint {
	s := corev1.TopologySpreadConstraint{
		MaxSkew: int32(1 + d.IntN(3)), TopologyKey: d.domain(), LabelSelector: d.selector(), WhenUnsatisfiable: corev1.DoNotSchedule,
	}
	if d.one(4) {
		s.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
	}
	if d.one(3) {
		s.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
	}
	if d.one(5) {
		s.MinDomains = new(int32(1 + d.IntN(4)))
	}
	if d.one(5) {
		s.MatchLabelKeys = []string{"tier", "pod-template-hash"}
	}
	return s
}

func quota(hard corev1.ResourceList) corev1.ResourceQuota {
	return corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: hard}}
}
