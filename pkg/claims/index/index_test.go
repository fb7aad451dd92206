// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"errors"
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// kinds is a cache that has told nothing yet, and notes how it is asked to index what it will tell.
type kinds struct {
	informertest.FakeInformers
	indexed   []string
	unindexed client.Object // fails to be indexed
	unserved  client.Object // fails to be watched
}

func newKinds(t *testing.T) *kinds {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), autoscalingv2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	k := &kinds{FakeInformers: informertest.FakeInformers{Scheme: scheme,
		InformersByGVK: map[schema.GroupVersionKind]toolscache.SharedIndexInformer{}}}
	for _, kind := range Kinds() {
		gvks, _, err := scheme.ObjectKinds(kind)
		if err != nil {
			t.Fatal(err)
		}
		k.InformersByGVK[gvks[0]] = controllertest.NewFakeInformer()
	}
	return k
}

func (k *kinds) IndexField(_ context.Context, kind client.Object, field string, _ client.IndexerFunc) error {
	if fmt.Sprintf("%T", kind) == fmt.Sprintf("%T", k.unindexed) {
		return errors.New("no index")
	}
	k.indexed = append(k.indexed, fmt.Sprintf("%T by %s", kind, field))
	return nil
}

func (k *kinds) GetInformer(ctx context.Context, kind client.Object, o ...cache.InformerGetOption) (cache.Informer, error) {
	if fmt.Sprintf("%T", kind) == fmt.Sprintf("%T", k.unserved) {
		return nil, errors.New("not served")
	}
	return k.FakeInformers.GetInformer(ctx, kind, o...)
}

// What is read is indexed once, by what is asked for, and it is known when all of it was told.
func TestWatch(t *testing.T) {
	k := newKinds(t)
	synced, err := Watch(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"*v1alpha1.FederatedHPA by names", "*v1alpha1.CronFederatedHPA by names", "*v1alpha1.MultidimPodAutoscaler by names",
		"*v2.HorizontalPodAutoscaler by names"}
	fleettest.Same(t, "indexed", want, k.indexed)
	for _, kind := range Kinds() {
		if synced() {
			t.Errorf("all is said to be told before %T is", kind)
		}
		informer, err := k.FakeInformerFor(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		informer.Synced()
	}
	if !synced() {
		t.Error("all was told, and that is not known")
	}
}

// A kind that the hub does not serve is told by its name, whichever it is.
func TestWatchWithoutAKind(t *testing.T) {
	for _, kind := range Kinds() {
		for want, fail := range map[string]func(*kinds){
			fmt.Sprintf("watching %T: not served", kind): func(k *kinds) { k.unserved = kind },
			fmt.Sprintf("watching %T: no index", kind):   func(k *kinds) { k.unindexed = kind },
		} {
			k := newKinds(t)
			fail(k)
			synced, err := Watch(t.Context(), k)
			if err == nil || err.Error() != want || synced != nil {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}

func TestNames(t *testing.T) {
	target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }
	federated := func(name string) *v1alpha1.FederatedHPA {
		f := &v1alpha1.FederatedHPA{ObjectMeta: named(name)}
		f.Spec.ScaleTargetRef = target
		return f
	}
	tests := map[string]struct {
		object client.Object
		want   []string
	}{
		"a FederatedHPA":                     {federated("a"), []string{"web", "a"}},
		"a FederatedHPA named as its target": {federated("web"), []string{"web"}},
		"a MultidimPodAutoscaler": {&v1alpha1.MultidimPodAutoscaler{ObjectMeta: named("a"),
			Spec: v1alpha1.MultidimPodAutoscalerSpec{ScaleTargetRef: target}}, []string{"web", "a"}},
		"a CronFederatedHPA": {&v1alpha1.CronFederatedHPA{ObjectMeta: named("a"),
			Spec: v1alpha1.CronFederatedHPASpec{ScaleTargetRef: target}}, []string{"web"}},
		"a HorizontalPodAutoscaler": {&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("a"),
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target}}, []string{"web"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, Names(tc.object))
		})
	}
}
