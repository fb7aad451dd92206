// SPDX-License-Identifier: Apache-2.0

package apiguard

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func checkSplit(t *testing.T, when string, metrics *Metrics, want int) {
	t.Helper()
	const help = "1 if some versions of the API group lead to our Service and others elsewhere, so that their clients get different answers."
	text := fmt.Sprintf("# HELP fleetscale_apiservice_group_split "+help+`
# TYPE fleetscale_apiservice_group_split gauge
fleetscale_apiservice_group_split{group="metrics.k8s.io"} %d
`, want)
	if err := testutil.CollectAndCompare(metrics.split, strings.NewReader(text)); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if faults, err := testutil.CollectAndLint(metrics.split); err != nil || len(faults) > 0 {
		t.Errorf("promlint: %v %v", faults, err)
	}
}

// Karmada's installer runs again. It knows v1beta1 of metrics.k8s.io only.
func TestGuardTellsOfASplit(t *testing.T) {
	client, metrics, recorder := held(), NewMetrics(prometheus.NewRegistry()), record.NewFakeRecorder(10)
	check := watch(t, client, metrics, recorder)
	fleettest.Contain(t, "ours", check())
	checkSplit(t, "ours", metrics, 0)

	karmadas := types.NamespacedName{Namespace: "karmada-system", Name: "karmada-metrics-adapter"}
	pointAt(t, client, karmadas)
	fleettest.Contain(t, "taken in part", check(), "APIService is not ours",
		`"msg"="API group is split: its clients get different answers, by the version that they ask for" "error"=null `+
			`"group"="metrics.k8s.io" "ours"=["v1.metrics.k8s.io"] "others"=["v1beta1.metrics.k8s.io"] "advice"="to take it over, run `)
	checkSplit(t, "taken in part", metrics, 1)
	<-recorder.Events // that it points elsewhere
	want := "Warning Split v1.metrics.k8s.io still leads to Service fleetscale-system/metrics-adapter, so clients of metrics.k8s.io get " +
		"different answers, by the version that they ask for; " + advice("metrics.k8s.io")
	fleettest.Same(t, "event", want, <-recorder.Events)
	fleettest.Contain(t, "still so", check())

	if _, err := client.ApiregistrationV1().APIServices().Update(t.Context(), pointing(stable, karmadas), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	fleettest.Contain(t, "taken as a whole", check(), "APIService is not ours", "API group is no longer split")
	checkSplit(t, "taken as a whole", metrics, 0)
}

// What cannot be read may be ours or not: no group is judged by a part.
func TestGuardJudgesNoGroupByAPart(t *testing.T) {
	client, metrics := held(), NewMetrics(prometheus.NewRegistry())
	pointAt(t, client, types.NamespacedName{Namespace: "karmada-system", Name: "karmada-metrics-adapter"})
	client.PrependReactor("get", "apiservices", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.(clienttesting.GetAction).GetName() == stable, nil, errors.New("connection refused")
	})
	fleettest.Contain(t, "one cannot be read", watch(t, client, metrics, nil)(), "APIService is not ours", "Could not read our APIServices")
	if n := testutil.CollectAndCount(metrics.split); n != 0 {
		t.Errorf("%d series without a finding", n)
	}
}
