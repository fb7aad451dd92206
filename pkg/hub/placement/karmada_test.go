// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"errors"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// fakeHub has at most one binding, web-deployment in shop.
type fakeHub struct {
	binding *ResourceBinding
	fails   error
	reads   int
}

func (h *fakeHub) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	h.reads++
	switch {
	case h.fails != nil:
		return h.fails
	case h.binding == nil || key != client.ObjectKey{Namespace: "shop", Name: "web-deployment"}:
		return apierrors.NewNotFound(bindings.WithResource("resourcebindings").GroupResource(), key.Name)
	}
	*object.(*ResourceBinding) = *h.binding.DeepCopyObject().(*ResourceBinding)
	return nil
}

func (h *fakeHub) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nobody lists")
}

var web = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bound is a binding of so many replicas to clusters; a kind of scheduling "none" says nothing of it.
func bound(replicas int32, scheduling string, clusters ...ResourceBindingCluster) *ResourceBinding {
	b := &ResourceBinding{Spec: ResourceBindingSpec{Replicas: replicas, Clusters: clusters}}
	switch scheduling {
	case "none":
	case "":
		b.Spec.Placement = &ResourceBindingPlacement{}
	default:
		b.Spec.Placement = &ResourceBindingPlacement{ReplicaScheduling: &ResourceBindingReplicaScheduling{ReplicaSchedulingType: scheduling}}
	}
	return b
}

func at(cluster string, replicas int32) ResourceBindingCluster {
	return ResourceBindingCluster{Name: cluster, Replicas: replicas}
}

func TestOf(t *testing.T) {
	both := map[string]*int32{"east": new(int32(3)), "west": new(int32(2))}
	whole := map[string]*int32{"east": new(int32(5)), "west": new(int32(5))}
	tests := map[string]struct {
		binding *ResourceBinding
		want    map[string]*int32
		rule    Rule
		fault   string
	}{
		"divided":                   {bound(5, "Divided", at("east", 3), at("west", 2)), both, Divided, ""},
		"not said":                  {bound(5, "none", at("east", 3), at("west", 2)), both, Unsaid, ""},
		"duplicated":                {bound(5, "Duplicated", at("east", 5), at("west", 5)), whole, Duplicated, ""},
		"duplicated by default":     {bound(5, "", at("east", 5), at("west", 5)), whole, Duplicated, ""},
		"whole in one cluster":      {bound(5, "Duplicated", at("east", 5)), map[string]*int32{"east": new(int32(5))}, Duplicated, ""},
		"replicas are not known":    {bound(0, "Divided", at("east", 0)), map[string]*int32{"east": nil}, Divided, ""},
		"a cluster that is emptied": {bound(5, "Divided", at("east", 0)), map[string]*int32{"east": new(int32(0))}, Divided, ""},
		"nowhere yet":               {bound(5, "Divided"), map[string]*int32{}, Divided, ""},
		"not propagated": {nil, nil, Unplaced,
			`karmada does not propagate it: there is no ResourceBinding "web-deployment"; give it a PropagationPolicy`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := NewKarmada(&fakeHub{binding: tc.binding}, clocktesting.NewFakePassiveClock(start))
			got, rule, err := k.Of(t.Context(), "shop", web)
			if diff := gocmp.Diff(tc.want, got); diff != "" || rule != tc.rule {
				t.Errorf("rule = %q, want %q; placement (-want +got):\n%s", rule, tc.rule, diff)
			}
			var fault *TemplateFault
			if said := errors.As(err, &fault); said != (tc.fault != "") || said && fault.Error() != tc.fault || !said && err != nil {
				t.Errorf("error = %v, want the fault %q", err, tc.fault)
			}
		})
	}
}

func TestOfCanNotBeRead(t *testing.T) {
	h := &fakeHub{fails: errors.New("no")}
	k := NewKarmada(h, clocktesting.NewFakePassiveClock(start))
	for range 2 { // it is not taken for a hub that is not Karmada's
		if _, _, err := k.Of(t.Context(), "shop", web); !errors.Is(err, h.fails) {
			t.Errorf("error = %v", err)
		}
	}
}

// That a hub is not Karmada's is looked up again after a while; a binding is read each time.
func TestKarmadaComesLater(t *testing.T) {
	h := &fakeHub{fails: &meta.NoKindMatchError{}}
	clock := clocktesting.NewFakePassiveClock(start)
	k := NewKarmada(h, clock)
	of := func() bool {
		t.Helper()
		_, rule, err := k.Of(t.Context(), "shop", web)
		if err != nil {
			t.Fatal(err)
		}
		return rule.ByOthers()
	}
	before := of()
	h.fails, h.binding = nil, bound(1, "Divided", at("east", 1))
	clock.SetTime(start.Add(time.Minute - time.Second))
	soonAfter := of()
	clock.SetTime(start.Add(time.Minute))
	fleettest.Same(t, "whether it places", []bool{false, false, true, true}, []bool{before, soonAfter, of(), of()})
	if h.reads != 3 {
		t.Errorf("%d reads, want one before, none soon after, and two", h.reads)
	}
}

// A copy shares nothing with what it is of.
func TestBindingIsCopied(t *testing.T) {
	binding := bound(5, "Divided", at("east", 1))
	binding.Labels = map[string]string{"a": "b"}
	list := &ResourceBindingList{Items: []ResourceBinding{*binding}}
	c := list.DeepCopyObject().(*ResourceBindingList)
	if diff := gocmp.Diff(list, c); diff != "" {
		t.Errorf("the copy (-of +is):\n%s", diff)
	}
	b := &c.Items[0]
	b.Spec.Clusters[0].Name, b.Labels["a"], b.Spec.Placement.ReplicaScheduling.ReplicaSchedulingType = "west", "c", "Duplicated"
	if b := list.Items[0]; b.Spec.Clusters[0].Name != "east" || b.Labels["a"] != "b" ||
		b.Spec.Placement.ReplicaScheduling.ReplicaSchedulingType != "Divided" {
		t.Errorf("the copy is shared: %+v", b)
	}
}

// What is read by the scheme can be listed and watched, too.
func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ResourceBinding", "ResourceBindingList", "ListOptions", "WatchEvent"} {
		if !scheme.Recognizes(bindings.WithKind(kind)) {
			t.Errorf("%s is not known", kind)
		}
	}
}
