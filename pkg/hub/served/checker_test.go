// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const lacking = "the hub drops fields of FederatedHPA: spec.clusterAffinity, spec.clusterTolerations, spec.autoscaleMultiClusterDelay, " +
	"spec.scalingToZero, spec.scalingToZeroMode and 10 more; " +
	"the hub drops fields of CronFederatedHPA: spec.rules[].ruleName, spec.rules[].maxDelaySeconds, spec.clusterAffinity, " +
	"spec.clusterTolerations, spec.replicaDistribution and 8 more; " +
	"apply deploy/crds, and do so again after each upgrade of Karmada, which brings back kinds of its own"

func newChecker(h *hub) *Checker {
	return New(Options{Hub: h, Period: time.Minute, Timeout: 10 * time.Second, Metrics: NewMetrics(prometheus.NewRegistry())})
}

// watch returns the check of a checker, which returns the lines logged in it.
func watch(t *testing.T, c *Checker) (check func() []string) {
	t.Helper()
	var lines []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	return func() []string {
		lines = nil
		c.check(ctx)
		return lines
	}
}

func checkErr(t *testing.T, when string, c *Checker, want string) {
	t.Helper()
	got := ""
	if err := c.Err(); err != nil {
		got = err.Error()
	}
	fleettest.Same(t, when, want, got)
	if c.Hold() != (want != "") {
		t.Errorf("%s: Hold() = %v", when, c.Hold())
	}
}

func checkMetric(t *testing.T, c *Checker, federated, cron, multidim int) {
	t.Helper()
	want := fmt.Sprintf(`
# HELP fleetscale_schema_ours 1 if the hub keeps every field of the kind that fleetscale reads and writes, 0 if it drops some or does not serve the kind.
# TYPE fleetscale_schema_ours gauge
fleetscale_schema_ours{kind="CronFederatedHPA"} %d
fleetscale_schema_ours{kind="FederatedHPA"} %d
fleetscale_schema_ours{kind="MultidimPodAutoscaler"} %d
`, cron, federated, multidim)
	if err := testutil.CollectAndCompare(c.options.Metrics.ours, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if faults, err := testutil.CollectAndLint(c.options.Metrics.ours); err != nil || len(faults) > 0 {
		t.Errorf("promlint: %v %v", faults, err)
	}
}

func TestCheckerFollowsTheHub(t *testing.T) {
	h := &hub{}
	c := newChecker(h)
	check := watch(t, c)
	checkErr(t, "before the first check", c, "waiting for the hub's schema of autoscaling.karmada.io/v1alpha1")

	fleettest.Contain(t, "no kinds", check(),
		`"error"="the hub does not serve FederatedHPA of autoscaling.karmada.io/v1alpha1; the hub does not serve CronFederatedHPA of`)
	checkMetric(t, c, 0, 0, 0)
	fleettest.Contain(t, "still no kinds", check())

	h.serve(t, ours(t))
	fleettest.Contain(t, "ours", check(), `"msg"="Hub serves our schema of autoscaling.karmada.io/v1alpha1"`)
	checkErr(t, "ours", c, "")
	checkMetric(t, c, 1, 1, 1)

	h.serve(t, karmadas(t))
	fleettest.Contain(t, "Karmada was upgraded", check(),
		`"Hub does not serve our schema of autoscaling.karmada.io/v1alpha1, so nothing is reconciled"`)
	checkErr(t, "Karmada was upgraded", c, lacking)
	checkMetric(t, c, 0, 0, 1)
	fleettest.Contain(t, "still Karmada's", check())
	h.serve(t, karmadas(t))
	fleettest.Contain(t, "Karmada's again", check())

	half := ours(t)
	at(half, "components", "schemas")["io.karmada.autoscaling.v1alpha1.CronFederatedHPA"] = schemaOf(karmadas(t), "CronFederatedHPA")
	h.serve(t, half)
	fleettest.Contain(t, "half fixed", check(), `"error"="the hub drops fields of CronFederatedHPA: `)
	checkMetric(t, c, 1, 0, 1)

	h.text = nil
	check()
	checkErr(t, "the kinds are gone", c, "the hub does not serve FederatedHPA of autoscaling.karmada.io/v1alpha1; "+
		"the hub does not serve CronFederatedHPA of autoscaling.karmada.io/v1alpha1; "+
		"the hub does not serve MultidimPodAutoscaler of autoscaling.karmada.io/v1alpha1; "+advice)
}

func TestCheckerReadsADocumentOnce(t *testing.T) {
	h := &hub{}
	h.serve(t, ours(t))
	check := watch(t, newChecker(h))
	for range 3 {
		check()
	}
	if h.checks != 3 || h.reads != 1 {
		t.Errorf("%d checks read the document %d times, want 3 and 1", h.checks, h.reads)
	}
}

func TestCheckerOfASilentHub(t *testing.T) {
	h := &hub{silent: true}
	c := newChecker(h)
	check := watch(t, c)
	const silent = "reading the hub's schema of autoscaling.karmada.io/v1alpha1: connection refused"
	fleettest.Contain(t, "silent from the beginning", check(),
		`"msg"="Could not read the hub's schema of autoscaling.karmada.io/v1alpha1" "reason"="`+silent)
	checkErr(t, "silent from the beginning", c, silent)
	if n := testutil.CollectAndCount(c.options.Metrics.ours); n != 0 {
		t.Errorf("%d series without a finding", n)
	}
	fleettest.Contain(t, "still silent", check())

	h.serve(t, ours(t))
	h.silent = false
	fleettest.Contain(t, "back", check(), "Hub serves our schema")

	h.silent = true
	fleettest.Contain(t, "silent again", check(), "Could not read")
	checkErr(t, "a finding outlives silence", c, "")

	h.silent = false
	h.text, h.version = []byte("<html>"), h.version+1
	fleettest.Contain(t, "still nothing of use", check())
	checkErr(t, "and garbage", c, "")
	h.serve(t, karmadas(t))
	check()
	checkErr(t, "but not the truth", c, lacking)
}

func TestCheckerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
		h := &hub{}
		c := newChecker(h)
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()

		checkCount := func(when string, checks int, hold bool) {
			t.Helper()
			synctest.Wait()
			if h.asked() != checks || c.Hold() != hold {
				t.Errorf("%s: %d checks, hold %v, want %d, %v", when, h.asked(), c.Hold(), checks, hold)
			}
		}
		checkCount("at once", 1, true)
		h.serve(t, ours(t))
		time.Sleep(soon + time.Second)
		checkCount("what is fixed is seen soon", 2, false)
		h.serve(t, karmadas(t))
		time.Sleep(time.Minute - 2*time.Second)
		checkCount("what is right is checked each period", 2, false)
		time.Sleep(2 * time.Second)
		checkCount("what is right is checked each period", 3, true)
		end()
		<-done
	})
}

func TestCheckerEndsInSilence(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx, end := context.WithCancel(logr.NewContext(t.Context(), logger))
	end()
	c := newChecker(&hub{silent: true})
	c.check(ctx)
	if len(lines) > 0 {
		t.Errorf("logged %q on its way out", lines)
	}
}

// The client of the programs, and the paths and documents of an API server.
func TestCheckerAsksAnAPIServer(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+"?"+r.URL.Query().Get("hash"))
		w.Header().Set("Content-Type", "application/json")
		const ours = "apis/autoscaling.karmada.io/v1alpha1"
		var answer any = object{"paths": object{ours: object{"serverRelativeURL": "/openapi/v3/" + ours + "?hash=7C3F"}}}
		if r.URL.Path != "/openapi/v3" {
			answer = karmadas(t)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{
		Hub: client.OpenAPIV3WithContext(t.Context()), Period: time.Minute, Timeout: 10 * time.Second,
		Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	watch(t, c)()
	checkErr(t, "Karmada's", c, lacking)
	if want := []string{"/openapi/v3?", "/openapi/v3/apis/autoscaling.karmada.io/v1alpha1?7C3F"}; !slices.Equal(want, asked) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
