// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// person owns in managedFields what a person set.
const person = "kubectl-create"

// hubOf has these objects, and knows who owns what as an API server does.
func hubOf(t *testing.T, object *v1alpha1.FederatedHPA, hooks interceptor.Funcs) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return hubtest.NewBuilder(scheme).WithObjects(object).WithReturnManagedFields().WithInterceptorFuncs(hooks).Build()
}

func keeperOf(hub client.Client, told *[]string) *Keeper[v1alpha1.FederatedHPA, *v1alpha1.FederatedHPA] {
	return &Keeper[v1alpha1.FederatedHPA, *v1alpha1.FederatedHPA]{
		Hub: hub, Live: hub, Manager: "fleetscale-test", Kind: "FederatedHPA", Resource: "federatedhpas", Rests: "Nothing is done",
		Saw:  func(*v1alpha1.FederatedHPA) {},
		Told: func(*v1alpha1.FederatedHPA) bool { return len(*told) > 0 },
		Tell: func(_ context.Context, _ *v1alpha1.FederatedHPA, message string) error {
			*told = append(*told, message)
			return nil
		},
		Restored: func(_ *v1alpha1.FederatedHPA, message string) { *told = append(*told, message) },
	}
}

// created is an object as a person made it, with a copy, and who owns what.
func created(t *testing.T) *v1alpha1.FederatedHPA {
	t.Helper()
	object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	object.Spec.HorizontalPodAutoscalerSpec = autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 7}
	object.Spec.Mode = v1alpha1.ModeObserve
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: v1alpha1.DistributionAggregated}
	speccopy.Keep(object, speccopy.Of(object))
	hub := hubOf(t, &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "web"}}, interceptor.Funcs{})
	if err := hub.Create(t.Context(), object, client.FieldOwner(person)); err != nil {
		t.Fatal(err)
	}
	return object
}

// cut is the object as Karmada's schema leaves it.
func cut(object *v1alpha1.FederatedHPA) *v1alpha1.FederatedHPA {
	object = object.DeepCopy()
	object.Spec = v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: object.Spec.HorizontalPodAutoscalerSpec}
	object.ResourceVersion = ""
	return object
}

func stored(t *testing.T, hub client.Reader) *v1alpha1.FederatedHPA {
	t.Helper()
	object := &v1alpha1.FederatedHPA{}
	if err := hub.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// However often an object is cut, it is whole again: who owned what owns it again, so that it is never taken for removed.
func TestCutAgainAndAgain(t *testing.T) {
	object := created(t)
	whole := object.Spec
	for range 3 {
		hub := hubOf(t, cut(object), interceptor.Funcs{})
		var told []string
		keeper := keeperOf(hub, &told)
		for i, want := range []bool{false, true} {
			if restored, err := keeper.Keep(t.Context(), stored(t, hub)); err != nil || restored != want {
				t.Fatalf("time %d: restored %v, %v", i, restored, err)
			}
		}
		fleettest.Same(t, "told", []string{
			"dropped without an edit: spec.mode, spec.replicaDistribution. The hub drops fields that its schema of the kind lacks, " +
				"as Karmada's does. Nothing is done. They are restored from the annotation fleetscale.io/spec",
			"restored from the annotation fleetscale.io/spec: spec.mode, spec.replicaDistribution",
		}, told)
		object = stored(t, hub)
		fleettest.Same(t, "spec", whole, object.Spec)
		if slices.ContainsFunc(object.ManagedFields, ByKeeper) {
			t.Error("who applies cannot remove what was restored")
		}
		fleettest.Same(t, "lost, if it is cut again", []string{"mode", "replicaDistribution"}, served.Cut(cut(object)))
	}
}

// A program that ends before it has given fields back leaves them its own, and not nobody's.
func TestEndsBeforeFieldsAreGivenBack(t *testing.T) {
	object := created(t)
	writes := 0
	hub := hubOf(t, cut(object), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if writes++; writes == 2 {
				return errors.New("it has ended")
			}
			return c.Patch(ctx, o, p, opts...)
		},
	})
	told := []string{"it is cut"}
	if restored, err := keeperOf(hub, &told).Keep(t.Context(), stored(t, hub)); err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	fleettest.Same(t, "lost, if it is cut again", []string{"mode", "replicaDistribution"}, served.Cut(cut(stored(t, hub))))
}

// A copy that the hub does not keep, or does not take, is an error, and no conflict that is to be retried at once.
func TestCopyThatDoesNotStick(t *testing.T) {
	rewritten := func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if err := c.Patch(ctx, o, p, opts...); err != nil {
			return err
		}
		o.SetAnnotations(map[string]string{v1alpha1.SpecAnnotation: `{"mode":"Paused"}`})
		return c.Update(ctx, o)
	}
	taken := func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return apierrors.NewConflict(v1alpha1.Resource("federatedhpas"), "web", errors.New("always"))
	}
	raced := func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		other := o.DeepCopyObject().(client.Object)
		other.SetLabels(map[string]string{"by": "another"})
		if err := c.Update(ctx, other); err != nil {
			return err
		}
		return c.Patch(ctx, o, p, opts...)
	}
	const writing = "writing its annotation fleetscale.io/spec: "
	for name, test := range map[string]struct {
		patch    func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error
		conflict bool
		says     string
	}{
		"a webhook rewrites it":          {rewritten, false, writing + "the hub, or a policy of it, does not keep what is written"},
		"a webhook always says conflict": {taken, false, writing + `Operation cannot be fulfilled on federatedhpas.autoscaling`},
		"another changes it in between":  {raced, true, writing + `Operation cannot be fulfilled on federatedhpas.autoscaling`},
		"nothing is in the way":          {nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			object := created(t)
			object.Annotations, object.ResourceVersion = nil, ""
			hub := hubOf(t, object, interceptor.Funcs{Patch: test.patch})
			err := keeperOf(hub, &[]string{}).Copy(t.Context(), stored(t, hub))
			fleettest.Same(t, "is a conflict", test.conflict, apierrors.IsConflict(err))
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.HasPrefix(err.Error(), test.says)) {
				t.Errorf("says %v", err)
			}
		})
	}
}

// What somebody else has come to own while fields are restored stays its own.
func TestSomebodyWritesWhileFieldsAreRestored(t *testing.T) {
	writes := 0
	hub := hubOf(t, cut(created(t)), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := c.Patch(ctx, o, p, opts...); err != nil {
				return err
			}
			if writes++; writes > 1 {
				return nil
			}
			other := o.DeepCopyObject().(*v1alpha1.FederatedHPA)
			other.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan
			return c.Update(ctx, other, client.FieldOwner("another"))
		},
	})
	told := []string{"it is cut"}
	if restored, err := keeperOf(hub, &told).Keep(t.Context(), stored(t, hub)); err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	owned := func(entry metav1.ManagedFieldsEntry) bool {
		return speccopy.Owns(entry, speccopy.Path{"deletionPolicy"})
	}
	if !slices.ContainsFunc(stored(t, hub).ManagedFields, owned) {
		t.Error("nobody owns what another has set")
	}
}

// An object that is gone is not reported on.
func TestSomebodyDeletesItWhileFieldsAreRestored(t *testing.T) {
	hub := hubOf(t, cut(created(t)), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return errors.Join(c.Patch(ctx, o, p, opts...), c.Delete(ctx, o))
		},
	})
	told := []string{"it is cut"}
	if restored, err := keeperOf(hub, &told).Keep(t.Context(), stored(t, hub)); restored || !apierrors.IsConflict(err) || len(told) > 1 {
		t.Errorf("restored %v, %v, told %q", restored, err, told)
	}
}

// One that is whole by now, or gone, is to be read again.
func TestItIsWholeAgain(t *testing.T) {
	object := created(t)
	object.ResourceVersion = ""
	other := object.DeepCopy()
	other.Name = "other"
	for _, there := range []*v1alpha1.FederatedHPA{object, other} {
		hub := hubOf(t, there, interceptor.Funcs{})
		told := []string{"it is cut"}
		if restored, err := keeperOf(hub, &told).Keep(t.Context(), cut(object)); restored || !apierrors.IsConflict(err) || len(told) > 1 {
			t.Errorf("%s is there: restored %v, %v, told %q", there.Name, restored, err, told)
		}
	}
}
