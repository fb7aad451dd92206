// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What is recommended and saved is shown in cores and bytes, as soon as it is known, and goes with the object.
func TestMetrics(t *testing.T) {
	const requested = `
		# HELP fleetscale_mpa_requested What the Pods of a cluster request together, in cores or bytes.
		# TYPE fleetscale_mpa_requested gauge
		fleetscale_mpa_requested{cluster="east",name="web",namespace="shop",resource="cpu"} 2
		fleetscale_mpa_requested{cluster="east",name="web",namespace="shop",resource="memory"} 4.294967296e+09
		fleetscale_mpa_requested{cluster="west",name="web",namespace="shop",resource="cpu"} 2
		fleetscale_mpa_requested{cluster="west",name="web",namespace="shop",resource="memory"} 4.294967296e+09
	`
	const saved = `
		# HELP fleetscale_mpa_savings What all Pods would request less if they had the recommended size, in cores or bytes; negative if more.
		# TYPE fleetscale_mpa_savings gauge
		fleetscale_mpa_savings{name="web",namespace="shop",resource="cpu"} 3.496
		fleetscale_mpa_savings{name="web",namespace="shop",resource="memory"} 7.541358592e+09
	`
	const recommended = `
		# HELP fleetscale_mpa_recommendation What a container should request, in cores or bytes.
		# TYPE fleetscale_mpa_recommendation gauge
		fleetscale_mpa_recommendation{bound="lower",container="app",name="web",namespace="shop",resource="cpu"} 0.025
		fleetscale_mpa_recommendation{bound="lower",container="app",name="web",namespace="shop",resource="memory"} 2.62144e+08
		fleetscale_mpa_recommendation{bound="target",container="app",name="web",namespace="shop",resource="cpu"} 0.126
		fleetscale_mpa_recommendation{bound="target",container="app",name="web",namespace="shop",resource="memory"} 2.62144e+08
		fleetscale_mpa_recommendation{bound="uncapped",container="app",name="web",namespace="shop",resource="cpu"} 0.126
		fleetscale_mpa_recommendation{bound="uncapped",container="app",name="web",namespace="shop",resource="memory"} 2.62144e+08
	`
	w := newWorld(t, object())
	registry := prometheus.NewRegistry()
	w.Metrics = NewMetrics(registry)
	shows := func(when, want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "fleetscale_mpa_requested", "fleetscale_mpa_savings"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	all := map[string][]pod{}
	for name, c := range w.clusters {
		all[name], c.pods = c.pods, nil
	}
	w.pass(1)
	if n, err := testutil.GatherAndCount(registry, "fleetscale_mpa_savings", "fleetscale_mpa_recommendation"); err != nil || n > 0 {
		t.Errorf("%d series of sizes while nothing is recommended, %v", n, err)
	}
	for name, c := range w.clusters {
		c.pods = all[name]
	}
	w.pass(1)
	shows("recommended", requested+saved)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(recommended), "fleetscale_mpa_recommendation"); err != nil {
		t.Error(err)
	}
	if err := w.hub.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	shows("deleted", "")
}

// What was done in a cluster is shown as long as that is registered.
func TestMovesOfClustersThatLeft(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	registry := prometheus.NewRegistry()
	w.Metrics = NewMetrics(registry)
	series := func() int {
		n, err := testutil.GatherAndCount(registry, "fleetscale_mpa_moves_total")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	w.pass(30)
	same(t, "of both", 2, series())
	delete(w.clusters, "west")
	w.pass(2)
	same(t, "of the one that is left", 1, series())
	w.clusters["east"].silence = fleet.Silencef(fleet.ReasonTimeout, "no answer")
	w.pass(2)
	same(t, "of the one that is silent", 1, series())
}

// A large fleet does not flood the scraper; what it leaves out is counted, and gets the place of what goes.
func TestSeriesAreBounded(t *testing.T) {
	w := newWorld(t, object())
	registry := prometheus.NewRegistry()
	w.Metrics, w.MostShown = NewMetrics(registry), 0
	expect := func(when string, has bool, without string) {
		t.Helper()
		n, err := testutil.GatherAndCount(registry, "fleetscale_mpa_recommendation", "fleetscale_mpa_ooms_total")
		if err != nil || n > 0 != has {
			t.Errorf("%s: %d series, %v", when, n, err)
		}
		const head = `
# HELP fleetscale_mpa_without_series MultidimPodAutoscalers that have no series of their own, as there are more than --metrics-per-object.
# TYPE fleetscale_mpa_without_series gauge
fleetscale_mpa_without_series `
		if err := testutil.GatherAndCompare(registry, strings.NewReader(head+without+"\n"), "fleetscale_mpa_without_series"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	w.pass(2)
	expect("there is no room", false, "1")
	w.MostShown = 1
	w.pass(2)
	expect("there is", true, "0")
	if err := w.hub.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	expect("gone", false, "0")
}
