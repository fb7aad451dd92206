// SPDX-License-Identifier: Apache-2.0

package apiguard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// watch returns the check of a new guard, which returns the lines logged in it.
func watch(t *testing.T, client *fake.Clientset, metrics *Metrics, recorder record.EventRecorder) (check func() []string) {
	t.Helper()
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx := logr.NewContext(t.Context(), logger)
	guard := NewGuard(GuardOptions{
		Client: client, APIs: resourceOnly(), Service: ourService(), Period: 30 * time.Second, Metrics: metrics, Recorder: recorder,
	})
	return func() []string {
		lines = nil
		guard.check(ctx)
		return lines
	}
}

func checkOurs(t *testing.T, metrics *Metrics, beta, stable int) {
	t.Helper()
	want := fmt.Sprintf(`
# HELP fleetscale_apiservice_ours 1 if the APIService points at our Service, 0 if it points elsewhere or does not exist.
# TYPE fleetscale_apiservice_ours gauge
fleetscale_apiservice_ours{apiservice="v1.metrics.k8s.io"} %d
fleetscale_apiservice_ours{apiservice="v1alpha1.history.fleetscale.io"} 1
fleetscale_apiservice_ours{apiservice="v1alpha1.members.fleetscale.io"} 1
fleetscale_apiservice_ours{apiservice="v1beta1.metrics.k8s.io"} %d
`, stable, beta)
	if err := testutil.CollectAndCompare(metrics.ours, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestGuardRaisesOneAlarmPerChange(t *testing.T) {
	client, metrics := held(), NewMetrics(prometheus.NewRegistry())
	check := watch(t, client, metrics, nil)

	fleettest.Contain(t, "ours", check())
	checkOurs(t, metrics, 1, 1)

	pointAt(t, client, types.NamespacedName{Namespace: "kube-system", Name: "metrics-server"})
	fleettest.Contain(t, "rewritten", check(), `"apiservice"="v1beta1.metrics.k8s.io" "pointsTo"="Service kube-system/metrics-server"`+
		` "want"="Service fleetscale-system/metrics-adapter" "advice"="to take it over, run `, "API group is split")
	checkOurs(t, metrics, 0, 1)
	fleettest.Contain(t, "still rewritten", check())

	pointAt(t, client, types.NamespacedName{Namespace: "monitoring", Name: "prometheus-adapter"})
	fleettest.Contain(t, "rewritten by another", check(), `"pointsTo"="Service monitoring/prometheus-adapter"`)
	checkOurs(t, metrics, 0, 1)

	pointAt(t, client, ourService())
	fleettest.Contain(t, "taken back", check(), `"msg"="APIService is ours" "apiservice"="v1beta1.metrics.k8s.io"`,
		"API group is no longer split")
	checkOurs(t, metrics, 1, 1)
}

func TestGuardMissesWhatDoesNotExist(t *testing.T) {
	metrics, recorder := NewMetrics(prometheus.NewRegistry()), record.NewFakeRecorder(10)
	check := watch(t, metricsServers(), metrics, recorder)
	fleettest.Contain(t, "first check", check(),
		`"pointsTo"="Service kube-system/metrics-server"`, `"pointsTo"="nowhere: it does not exist"`)
	checkOurs(t, metrics, 0, 0)

	// Only what exists can bear an Event.
	want := "Warning PointsElsewhere It points at Service kube-system/metrics-server and not at Service fleetscale-system/metrics-adapter; " +
		advice("metrics.k8s.io")
	fleettest.Same(t, "event", want, <-recorder.Events)
	if more := len(recorder.Events); more != 0 {
		t.Errorf("%d further events, want none", more)
	}
}

func TestGuardNeedsNoAlarmForASilentHub(t *testing.T) {
	client, metrics := held(), NewMetrics(prometheus.NewRegistry())
	silent := false
	client.PrependReactor("get", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		return silent, nil, errors.New("connection refused")
	})
	check := watch(t, client, metrics, nil)
	fleettest.Contain(t, "ours", check())

	silent = true
	fleettest.Contain(t, "silent", check(), `"msg"="Could not read our APIServices"`+
		` "reason"="getting APIService v1beta1.metrics.k8s.io: connection refused\ngetting APIService v1.metrics.k8s.io: connection refused`+
		`\ngetting APIService v1alpha1.members.fleetscale.io: connection refused`+
		`\ngetting APIService v1alpha1.history.fleetscale.io: connection refused"`)
	checkOurs(t, metrics, 1, 1)
	fleettest.Contain(t, "still silent", check())

	silent = false
	fleettest.Contain(t, "back", check())
	silent = true
	fleettest.Contain(t, "silent again", check(), "Could not read our APIServices")
}

func TestGuardEndsInSilence(t *testing.T) {
	client := held()
	client.PrependReactor("get", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, context.Canceled
	})
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx, stop := context.WithCancel(logr.NewContext(t.Context(), logger))
	stop()
	NewGuard(GuardOptions{Client: client, APIs: resourceOnly(), Service: ourService(), Period: time.Second,
		Metrics: NewMetrics(prometheus.NewRegistry())}).check(ctx)
	fleettest.Contain(t, "stopped", lines)
}

func TestGuardOnlyReadsAndOncePerPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := metricsServers()
		ctx, cancel := context.WithTimeout(t.Context(), 75*time.Second)
		defer cancel()
		NewGuard(GuardOptions{
			Client: client, APIs: resourceOnly(), Service: ourService(), Period: 30 * time.Second,
			Metrics: NewMetrics(prometheus.NewRegistry()),
		}).Run(ctx)
		for _, action := range client.Actions() {
			if action.GetVerb() != "get" {
				t.Errorf("the guard did %s", action.GetVerb())
			}
		}
		if got, want := len(client.Actions()), 4*3; got != want {
			t.Errorf("asked %d times, want four APIServices at 0 s, 30 s and 60 s", got)
		}
	})
}

// A hub that hangs must not keep the guard from its next check.
func TestGuardGivesEachCheckADeadline(t *testing.T) {
	hub := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hub.Close()
	client, err := aggregator.NewForConfig(&rest.Config{Host: hub.URL})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	guard := NewGuard(GuardOptions{Client: client, APIs: resourceOnly(), Service: ourService(), Period: 50 * time.Millisecond,
		Metrics: NewMetrics(prometheus.NewRegistry())})
	guard.check(logr.NewContext(t.Context(), logger))
	fleettest.Contain(t, "hanging", lines, "Could not read our APIServices")
}

func TestMetricsFollowTheConventions(t *testing.T) {
	metrics := NewMetrics(prometheus.NewRegistry())
	metrics.set(beta, true)
	problems, err := testutil.CollectAndLint(metrics.ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestGuardWatchesWhatIsServedOnly(t *testing.T) {
	metrics := NewMetrics(prometheus.NewRegistry())
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	NewGuard(GuardOptions{
		Client: hubWith(), APIs: []string{"external.metrics.k8s.io"}, Service: ourService(),
		Period: 30 * time.Second, Metrics: metrics,
	}).check(logr.NewContext(t.Context(), logger))
	fleettest.Contain(t, "first check", lines, `"apiservice"="v1beta1.external.metrics.k8s.io" "pointsTo"="nowhere: it does not exist"`+
		` "want"="Service fleetscale-system/metrics-adapter" "advice"="to take it over, run `+
		"`kubectl fleetscale takeover --apis=external.metrics.k8s.io`")
	if got := testutil.CollectAndCount(metrics.ours); got != 3 {
		t.Errorf("%d APIServices are counted, want 3", got)
	}
}

func TestGuardOfNothingIsABrokenInvariant(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a guard was made that watches nothing")
		}
	}()
	NewGuard(GuardOptions{Client: fake.NewClientset(), Service: ourService()})
}
