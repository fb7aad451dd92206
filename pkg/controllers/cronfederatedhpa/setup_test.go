// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// kinds is a cache that has told nothing yet, and notes how it is asked to index what it will tell.
type kinds struct {
	informertest.FakeInformers
	indexed   []string
	unindexed client.Object // fails to be indexed
	unserved  client.Object // fails to be watched
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

var watched = []client.Object{&v1alpha1.CronFederatedHPA{}, &v1alpha1.FederatedHPA{}, &autoscalingv2.HorizontalPodAutoscaler{}}

// noting is a manager that notes what it is to run.
type noting struct {
	ctrl.Manager
	runs []manager.Runnable
}

func (n *noting) Add(r manager.Runnable) error {
	n.runs = append(n.runs, r)
	return n.Manager.Add(r)
}

// managerOf is a manager that reads from that cache, and from no hub.
func managerOf(t *testing.T, k *kinds) ctrl.Manager {
	t.Helper()
	k.Scheme = runtime.NewScheme()
	if err := AddToScheme(k.Scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range watched {
		k.tell(t, kind, controllertest.NewFakeInformer())
	}
	m, err := ctrl.NewManager(&rest.Config{Host: "https://hub.invalid"}, ctrl.Options{
		Scheme:         k.Scheme,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return k, nil },
		Controller:     config.Controller{SkipNameValidation: new(true)}, // each test sets the same one up
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (k *kinds) tell(t *testing.T, kind client.Object, informer *controllertest.FakeInformer) {
	t.Helper()
	gvks, _, err := k.Scheme.ObjectKinds(kind)
	if err != nil {
		t.Fatal(err)
	}
	if k.InformersByGVK == nil {
		k.InformersByGVK = map[schema.GroupVersionKind]toolscache.SharedIndexInformer{}
	}
	k.InformersByGVK[gvks[0]] = informer
}

// What is read is indexed by what the controller asks for, and the controller knows when all of it was told.
func TestSetUp(t *testing.T) {
	k := &kinds{}
	n := &noting{Manager: managerOf(t, k)}
	synced, err := (&Reconciler{}).SetUp(t.Context(), n, 2, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(n.runs) != 1 {
		t.Errorf("the manager is to run %d controllers", len(n.runs))
	}
	want := []string{"*v1alpha1.CronFederatedHPA by " + byTarget, "*v1alpha1.FederatedHPA by " + byTarget, "*v2.HorizontalPodAutoscaler by " + byTarget}
	if diff := cmp.Diff(want, k.indexed); diff != "" {
		t.Errorf("indexed (-want +got):\n%s", diff)
	}
	for _, kind := range watched {
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
func TestSetUpWithoutAKind(t *testing.T) {
	for _, kind := range watched {
		for want, k := range map[string]*kinds{
			fmt.Sprintf("watching %T: not served", kind): {unserved: kind},
			fmt.Sprintf("watching %T: no index", kind):   {unindexed: kind},
		} {
			synced, err := (&Reconciler{}).SetUp(t.Context(), managerOf(t, k), 2, time.Second)
			if err == nil || err.Error() != want || synced != nil {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}
