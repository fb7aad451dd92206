// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// bench is the second answer: it binds one Pod after another to any node that takes it, and checks every Pod again
// each time. It shares nothing with the estimate, not even the library.
type bench struct {
	*world
	placed []*corev1.Pod // the bound ones, and those that are put there
}

// oneByOne returns how many replicas can be bound, and created, one after another. The order of the nodes is thrown.
func (w *world) oneByOne(d dice) int32 {
	b := &bench{world: w}
	allowed := b.allowed()
	b.settle()
	for n := int32(0); ; n++ {
		var open []*corev1.Node
		for _, node := range w.nodes {
			if b.takes(node, b.replica()) && b.keepsApart(node) && b.keepsEven(node) {
				open = append(open, node)
			}
		}
		if len(open) == 0 || n == allowed {
			return n
		}
		replica := b.replica()
		replica.Spec.NodeName = open[d.IntN(len(open))].Name
		b.placed = append(b.placed, replica)
	}
}

func (b *bench) replica() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: b.template.Labels}, Spec: *b.template.Spec.DeepCopy()}
}

func (b *bench) mine(p *corev1.Pod) bool { return p.Namespace == "shop" && p.Labels["app"] == "ours" }

func live(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

// settle places what is bound, and what waits and is not ours.
func (b *bench) settle() {
	var waiting []*corev1.Pod
	for _, p := range b.pods {
		switch {
		case !live(p):
		case p.Spec.NodeName != "":
			b.placed = append(b.placed, p)
		case p.DeletionTimestamp == nil && !b.mine(p):
			waiting = append(waiting, p.DeepCopy())
		}
	}
	slices.SortStableFunc(waiting, func(x, y *corev1.Pod) int { return cmp.Compare(*y.Spec.Priority, *x.Spec.Priority) })
	for _, p := range waiting {
		at := slices.IndexFunc(b.nodes, func(n *corev1.Node) bool { return b.takes(n, p) })
		if at >= 0 {
			p.Spec.NodeName = b.nodes[at].Name
			p.Namespace = "assumed" // it only takes room
			b.placed = append(b.placed, p)
		}
	}
}

// takes checks one node for one Pod, by all but rules between Pods.
func (b *bench) takes(n *corev1.Node, p *corev1.Pod) bool {
	if n.DeletionTimestamp != nil || n.Status.Conditions[0].Status != corev1.ConditionTrue {
		return false
	}
	return b.chosen(n, p) && b.tolerated(n, p) && b.roomy(n, p)
}

func (b *bench) chosen(n *corev1.Node, p *corev1.Pod) bool {
	for k, v := range p.Spec.NodeSelector {
		if n.Labels[k] != v {
			return false
		}
	}
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return true
	}
	e := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0]
	return slices.Contains(e.Values, n.Labels[e.Key]) == (e.Operator == corev1.NodeSelectorOpIn)
}

func (b *bench) tolerated(n *corev1.Node, p *corev1.Pod) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p, t) {
			return false
		}
	}
	return !n.Spec.Unschedulable || tolerates(p, corev1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
}

func tolerates(p *corev1.Pod, taint corev1.Taint) bool {
	for _, t := range p.Spec.Tolerations {
		if (t.Key == "" || t.Key == taint.Key) && (t.Effect == "" || t.Effect == taint.Effect) &&
			(t.Operator == "Exists" || t.Value == taint.Value) {
			return true
		}
	}
	return false
}

func (b *bench) roomy(n *corev1.Node, p *corev1.Pod) bool {
	on := 0
	used := map[corev1.ResourceName]*resource.Quantity{}
	for _, other := range b.placed {
		if other.Spec.NodeName != n.Name {
			continue
		}
		on++
		for name, q := range other.Spec.Containers[0].Resources.Requests {
			if used[name] == nil {
				used[name] = &resource.Quantity{}
			}
			used[name].Add(q)
		}
	}
	limit := n.Status.Allocatable["pods"]
	if int64(on) >= limit.Value() {
		return false
	}
	for name, q := range p.Spec.Containers[0].Resources.Requests {
		need := q.DeepCopy()
		if used[name] != nil {
			need.Add(*used[name])
		}
		if !q.IsZero() && need.Cmp(n.Status.Allocatable[name]) > 0 {
			return false
		}
	}
	return true
}

// allowed returns how many replicas the quotas let run that do not yet.
func (b *bench) allowed() int32 {
	allowed := int32(1000)
	for _, q := range b.quotas {
		for i := int32(0); i < allowed; i++ {
			created := int64(i + 1)
			for _, p := range b.pods { // those that wait are there already, and were charged
				if b.mine(p) && live(p) && p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
					created--
				}
			}
			pods, cpu := q.Status.Hard["pods"], q.Status.Hard["requests.cpu"]
			request := b.template.Spec.Containers[0].Resources.Requests["cpu"]
			if created > max(0, pods.Value()) || created > 0 && created*request.MilliValue() > max(0, cpu.MilliValue()) {
				allowed = i
			}
		}
	}
	return allowed
}

func (b *bench) keepsApart(n *corev1.Node) bool {
	if b.template.Spec.Affinity == nil || b.template.Spec.Affinity.PodAntiAffinity == nil {
		return true
	}
	for _, t := range b.template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		for _, p := range b.placed {
			domain, found := n.Labels[t.TopologyKey]
			theirs, too := b.nodeLabels(p)[t.TopologyKey]
			near := found && too && domain == theirs
			seen := t.NamespaceSelector != nil && p.Namespace != "assumed" || slices.Contains(t.Namespaces, p.Namespace) ||
				t.NamespaceSelector == nil && t.Namespaces == nil && p.Namespace == "shop"
			if near && seen && selects(t.LabelSelector, p.Labels) {
				return false
			}
		}
	}
	return true
}

func selects(s *metav1.LabelSelector, of labels.Set) bool {
	if s == nil {
		return false
	}
	for k, v := range s.MatchLabels {
		if of[k] != v {
			return false
		}
	}
	return true
}

func (b *bench) nodeLabels(p *corev1.Pod) map[string]string {
	for _, n := range b.nodes {
		if n.Name == p.Spec.NodeName {
			return n.Labels
		}
	}
	return nil
}

func (b *bench) keepsEven(n *corev1.Node) bool {
	for _, c := range b.template.Spec.TopologySpreadConstraints {
		domain, found := n.Labels[c.TopologyKey]
		if !found {
			return false
		}
		if c.LabelSelector != nil && len(c.LabelSelector.MatchLabels) == 0 && len(c.MatchLabelKeys) == 0 {
			continue
		}
		have := b.count(c)
		least := 1 << 30
		for _, n := range have {
			least = min(least, n)
		}
		if c.MinDomains != nil && len(have) < int(*c.MinDomains) {
			least = 0
		}
		joins := 0
		if b.counted(c, b.template.Labels) {
			joins = 1
		}
		if have[domain]+joins-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

func (b *bench) counted(c corev1.TopologySpreadConstraint, of labels.Set) bool {
	return selects(c.LabelSelector, of) && (c.MatchLabelKeys == nil || of["tier"] == b.template.Labels["tier"])
}

func (b *bench) count(c corev1.TopologySpreadConstraint) map[string]int {
	have := map[string]int{}
	for _, n := range b.nodes {
		whole := true
		for _, each := range b.template.Spec.TopologySpreadConstraints {
			_, found := n.Labels[each.TopologyKey]
			whole = whole && found
		}
		if !whole || c.NodeAffinityPolicy == nil && !b.chosen(n, b.replica()) || c.NodeTaintsPolicy != nil && !b.tolerated(n, b.replica()) {
			continue
		}
		have[n.Labels[c.TopologyKey]] += 0
		for _, p := range b.placed {
			if p.Spec.NodeName == n.Name && p.Namespace == "shop" && p.DeletionTimestamp == nil && b.counted(c, p.Labels) {
				have[n.Labels[c.TopologyKey]]++
			}
		}
	}
	return have
}

func rounds() uint64 { return fleettest.Rounds(50_000, 50) }

func throw(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0))} }

// Requests, taints, selectors, quotas and Pods that wait: the estimate is what can be bound.
func TestEstimateIsWhatCanBeBoundOneByOne(t *testing.T) {
	var some, none int
	for seed := range rounds() {
		d := throw(seed)
		w := d.world()
		got, want := w.estimate(), w.oneByOne(d)
		if got != want {
			t.Fatalf("seed %d: estimated %d, and %d could be bound", seed, got, want)
		}
		if want > 0 {
			some++
		} else {
			none++
		}
	}
	if some < none/4 || none < some/20 {
		t.Errorf("%d worlds had room and %d had none; the test should see both", some, none)
	}
}

// One rule between Pods is estimated exactly, whatever order the scheduler takes.
func TestEstimateWithOneRuleIsWhatCanBeBoundOneByOne(t *testing.T) {
	bounded := 0
	for seed := range rounds() {
		d := throw(seed)
		w := d.world()
		free := w.estimate()
		d.rule(w)
		got, want := w.estimate(), w.oneByOne(d)
		if got != want {
			t.Fatalf("seed %d: estimated %d, and %d could be bound", seed, got, want)
		}
		if got < free {
			bounded++
		}
	}
	if bounded < int(rounds()/20) {
		t.Errorf("only in %d worlds did the rule matter", bounded)
	}
}

// Several rules, each considered by itself: never less than can be bound, and mostly not more.
func TestEstimateWithSeveralRulesIsAnUpperBound(t *testing.T) {
	exact := uint64(0)
	for seed := range rounds() {
		d := throw(seed)
		w := d.world()
		for range 2 + d.IntN(2) {
			d.rule(w)
		}
		got, want := w.estimate(), w.oneByOne(d)
		if got < want {
			t.Fatalf("seed %d: estimated %d, and %d could be bound", seed, got, want)
		}
		if got == want {
			exact++
		}
	}
	t.Logf("%d of %d were exact", exact, rounds())
	if exact < rounds()*998/1000 {
		t.Errorf("only %d of %d were exact", exact, rounds())
	}
}

func (d dice) rule(w *world) {
	if d.one(2) {
		w.template.Spec.TopologySpreadConstraints = append(w.template.Spec.TopologySpreadConstraints, d.spread())
		return
	}
	if w.template.Spec.Affinity == nil {
		w.template.Spec.Affinity = &corev1.Affinity{}
	}
	if w.template.Spec.Affinity.PodAntiAffinity == nil {
		w.template.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	terms := &w.template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*terms = append(*terms, d.apart())
}

func FuzzEstimate(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Add(uint64(2), uint8(1))
	f.Add(uint64(3), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, rules uint8) {
		d := throw(seed)
		w := d.world()
		for range rules % 4 {
			d.rule(w)
		}
		got, want := w.estimate(), w.oneByOne(d)
		if got < want || got > want && rules%4 < 2 {
			t.Fatalf("seed %d with %d rules: estimated %d, and %d could be bound", seed, rules%4, got, want)
		}
	})
}
