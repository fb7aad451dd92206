// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
	prefer     = corev1.TaintEffectPreferNoSchedule
)

func taint(key, value string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect}
}

func TestJudge(t *testing.T) {
	cordon := taint(CordonAnnotation, Yes, noSchedule)
	drain := taint(DrainAnnotation, Yes, noExecute)
	broken := taint("broken", "", noExecute)
	type taints = []corev1.Taint
	type tolerations = []corev1.Toleration
	tests := map[string]struct {
		taints      taints
		tolerations tolerations
		want        Standing
	}{
		"no taint":                    {nil, nil, Free},
		"an effect that only prefers": {taints{taint("a", "b", prefer)}, nil, Free},
		"no effect":                   {taints{taint("a", "b", "")}, nil, Free},
		"NoSchedule":                  {taints{cordon}, nil, Cordoned},
		"NoExecute":                   {taints{drain}, nil, Drained},
		"the greater one decides":     {taints{cordon, drain}, nil, Drained},
		"in any order":                {taints{drain, cordon}, nil, Drained},
		"all are tolerated":           {taints{cordon, drain}, tolerations{{Operator: "Exists"}}, Free},
		"all of one effect":           {taints{cordon, drain}, tolerations{{Operator: "Exists", Effect: noExecute}}, Cordoned},
		"one key":                     {taints{cordon, drain}, tolerations{{Key: CordonAnnotation, Operator: "Exists"}}, Drained},
		"one key, of another effect": {taints{drain},
			tolerations{{Key: DrainAnnotation, Operator: "Exists", Effect: noSchedule}}, Drained},
		"one value":                         {taints{drain}, tolerations{{Key: DrainAnnotation, Operator: "Equal", Value: Yes}}, Free},
		"one value, without an operator":    {taints{drain}, tolerations{{Key: DrainAnnotation, Value: Yes}}, Free},
		"another value":                     {taints{drain}, tolerations{{Key: DrainAnnotation, Value: "no"}}, Drained},
		"no value":                          {taints{broken}, tolerations{{Key: "broken"}}, Free},
		"a value that is not asked for":     {taints{broken}, tolerations{{Key: "broken", Value: "x"}}, Drained},
		"an empty key is none with Equal":   {taints{broken}, tolerations{{}}, Drained},
		"a comparison of numbers":           {taints{taint("n", "5", noExecute)}, tolerations{{Key: "n", Operator: "Gt", Value: "3"}}, Drained},
		"each taint has its own toleration": {taints{cordon, broken}, tolerations{{Key: "broken"}, {Key: CordonAnnotation, Value: Yes}}, Free},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Judge(tc.taints, tc.tolerations); got.Standing != tc.want || (got.By.Key == "") != (tc.want == Free) {
				t.Errorf("got %v by %v, want %v", got.Standing, got.By, tc.want)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	for want, v := range map[string]Verdict{
		"": {},
		"it gets no more, by its taint fleetscale.io/cordon=true:NoSchedule": {Cordoned, taint(CordonAnnotation, Yes, noSchedule)},
		"others take its part over, by its taint broken:NoExecute":           {Drained, taint("broken", "", noExecute)},
	} {
		if got := v.Message(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What Kubernetes tolerates we do, except that we have no defaulting of an empty key, and more tolerations never restrict.
func TestJudgeAsKubernetes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	anyOf := func(all ...string) string { return all[r.IntN(len(all))] }
	effect := func() corev1.TaintEffect {
		return corev1.TaintEffect(anyOf("NoSchedule", "NoExecute", "PreferNoSchedule"))
	}
	for range 20_000 {
		x := taint(anyOf("a", "b", CordonAnnotation), anyOf("", "v", Yes), effect())
		y := corev1.Toleration{Key: anyOf("", "a", "b"), Operator: corev1.TolerationOperator(anyOf("", "Equal", "Exists", "Gt")),
			Value: anyOf("", "v"), Effect: corev1.TaintEffect(anyOf("", "NoSchedule", "NoExecute"))}
		if y.Key == "" && y.Operator != corev1.TolerationOpExists {
			continue // refused by Kubernetes, and by us
		}
		if want, got := y.ToleratesTaint(klog.Background(), &x, false), tolerates(y, x); got != want {
			t.Fatalf("%+v tolerates %+v: %t, want %t", y, x, got, want)
		}
		all := []corev1.Taint{x, taint("a", "", effect()), taint("b", "v", effect())}
		before := Judge(all, []corev1.Toleration{y}).Standing
		if after := Judge(all, []corev1.Toleration{y, {Key: "b", Operator: "Exists"}}).Standing; after > before {
			t.Fatalf("%v, and with one more toleration %v", before, after)
		}
		slices.Reverse(all)
		if after := Judge(all, []corev1.Toleration{y}).Standing; after != before {
			t.Fatalf("%v, and in another order %v", before, after)
		}
	}
}

func TestOfAnnotations(t *testing.T) {
	cordon, drain := taint(CordonAnnotation, Yes, noSchedule), taint(DrainAnnotation, Yes, noExecute)
	tests := map[string]struct {
		cordon, drain string
		want          []corev1.Taint
		wrong         []string
	}{
		"neither":     {"", "", nil, nil},
		"both are no": {"false", "false", nil, nil},
		"cordon":      {"true", "", []corev1.Taint{cordon}, nil},
		"drain":       {"", "true", []corev1.Taint{drain}, nil},
		"both":        {"true", "true", []corev1.Taint{cordon, drain}, nil},
		"nonsense":    {"yes", "True", nil, []string{CordonAnnotation, DrainAnnotation}},
	}
	for name, tc := range tests {
		got, wrong := OfAnnotations(map[string]string{CordonAnnotation: tc.cordon, DrainAnnotation: tc.drain})
		fleettest.Same(t, name, tc.want, got)
		fleettest.Same(t, name, tc.wrong, wrong)
	}
}
