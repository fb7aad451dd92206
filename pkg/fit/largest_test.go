// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unique"

	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// sized is a node that has so much.
func sized(cpu, memory int64, edits ...func(*Node)) *Node {
	n := &Node{Name: unique.Make("n"), Open: true, Allocatable: Amounts{MilliCPU: cpu, Memory: memory, Pods: 110}}
	for _, edit := range edits {
		edit(n)
	}
	return n
}

func tainted(key string) func(*Node) {
	return func(n *Node) {
		n.Taints = append(n.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

func TestLargest(t *testing.T) {
	labelled := func(n *Node) { n.Labels = map[string]string{"disk": "ssd"} }
	closed := func(n *Node) { n.Open = false }
	onSSD := corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}
	tests := map[string]struct {
		nodes []*Node
		spec  corev1.PodSpec
		want  [][2]int64
	}{
		"no nodes":              {nil, corev1.PodSpec{}, nil},
		"one":                   {[]*Node{sized(1, 2)}, corev1.PodSpec{}, [][2]int64{{1, 2}}},
		"equal ones count once": {[]*Node{sized(1, 2), sized(1, 2)}, corev1.PodSpec{}, [][2]int64{{1, 2}}},
		"one has more of both":  {[]*Node{sized(1, 2), sized(2, 3), sized(1, 1)}, corev1.PodSpec{}, [][2]int64{{2, 3}}},
		"one has more of one":   {[]*Node{sized(2, 1), sized(2, 3), sized(1, 3)}, corev1.PodSpec{}, [][2]int64{{2, 3}}},
		"each has more of something": {[]*Node{sized(1, 9), sized(4, 2), sized(2, 5)}, corev1.PodSpec{},
			[][2]int64{{4, 2}, {2, 5}, {1, 9}}},
		"those that have nothing do not count": {[]*Node{sized(0, 9), sized(9, 0), sized(0, 0)}, corev1.PodSpec{}, nil},
		"those not selected do not count":      {[]*Node{sized(9, 9), sized(1, 1, labelled)}, onSSD, [][2]int64{{1, 1}}},
		"those with a taint do not count":      {[]*Node{sized(9, 9, tainted("gpu")), sized(1, 1)}, corev1.PodSpec{}, [][2]int64{{1, 1}}},
		"those that are not Ready count":       {[]*Node{sized(9, 9, closed), sized(1, 1)}, corev1.PodSpec{}, [][2]int64{{9, 9}}},
		"cordoned ones count": {[]*Node{sized(9, 9, tainted("node.kubernetes.io/unschedulable"))}, corev1.PodSpec{},
			[][2]int64{{9, 9}}},
		"cordoned ones with a taint do not either": {[]*Node{sized(9, 9, tainted(passing+"not-ready"), tainted("gpu"))}, corev1.PodSpec{}, nil},
		"those whose taint is tolerated count": {[]*Node{sized(9, 9, tainted("gpu")), sized(1, 1)},
			corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}}, [][2]int64{{9, 9}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got [][2]int64
			for _, a := range Largest(slices.Values(tc.nodes), &corev1.PodTemplateSpec{Spec: tc.spec}) {
				got = append(got, [2]int64{a.MilliCPU, a.Memory})
			}
			fleettest.Same(t, "Largest()", tc.want, got, cmpopts.EquateEmpty())
		})
	}
}

// A Pod that some node could take, one of the largest could, and the nodes stay as they are.
func TestLargestTakesWhatAnyTakes(t *testing.T) {
	for seed := range uint64(200) {
		d := rand.New(rand.NewPCG(seed, 0))
		var nodes []*Node
		for range d.IntN(12) {
			nodes = append(nodes, sized(d.Int64N(6), d.Int64N(6), tainted(passing+"x")))
		}
		largest := Largest(slices.Values(nodes), &corev1.PodTemplateSpec{})
		for pod := range 49 {
			need := Amounts{MilliCPU: int64(pod % 7), Memory: int64(pod / 7)}
			takes := func(a Amounts) bool { return a.MilliCPU >= need.MilliCPU && a.Memory >= need.Memory }
			any := slices.ContainsFunc(nodes, func(n *Node) bool { return takes(n.Allocatable) })
			if need.MilliCPU > 0 && need.Memory > 0 && any != slices.ContainsFunc(largest, takes) {
				t.Fatalf("seed %d: any node takes %+v: %v, one of %+v: %v", seed, need, any, largest, !any)
			}
		}
		for i, a := range largest {
			if i > 0 && (a.MilliCPU >= largest[i-1].MilliCPU || a.Memory <= largest[i-1].Memory) {
				t.Fatalf("seed %d: not in order: %+v", seed, largest)
			}
		}
		if slices.ContainsFunc(nodes, func(n *Node) bool { return n.Taints[0].Key != passing+"x" }) {
			t.Fatal("a node was written to")
		}
	}
}
