// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
)

// noting is a manager that notes what it is to run.
type noting struct {
	ctrl.Manager
	runs []manager.Runnable
}

func (n *noting) Add(r manager.Runnable) error {
	n.runs = append(n.runs, r)
	return n.Manager.Add(r)
}

// The manager is to run one controller, which reads from a cache and from no hub: while it leads, or with shards at any time.
func TestSetUp(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	m, err := ctrl.NewManager(&rest.Config{Host: "https://hub.invalid"}, ctrl.Options{
		Scheme:         scheme,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return &informertest.FakeInformers{Scheme: scheme}, nil
		},
		Controller: config.Controller{SkipNameValidation: new(true)}, // a test that is run again sets the same one up
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, shards := range map[string]*sharding.Shards{"without shards": nil, "with shards": sharding.New(sharding.Options{Shards: 2})} {
		n := &noting{Manager: m}
		if err := (&Reconciler{Options: Options{Shards: shards}}).SetUp(n, 2, time.Second); err != nil {
			t.Fatal(err)
		}
		if len(n.runs) != 1 {
			t.Fatalf("%s, the manager is to run %d controllers", name, len(n.runs))
		}
		leads := n.runs[0].(manager.LeaderElectionRunnable).NeedLeaderElection()
		if leads != (shards == nil) {
			t.Errorf("%s, only the leader runs the controller: %t", name, leads)
		}
	}
}
