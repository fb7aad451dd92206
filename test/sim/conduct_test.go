// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const (
	podsPath    = "/api/v1/namespaces/shop/pods"
	metricsPath = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
)

func ask(t *testing.T, m *Member, path string) (code int, body string, err error) {
	t.Helper()
	resp, err := plainly(t, m, path)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(read), err
}

func TestConductShowsInAnswers(t *testing.T) {
	tests := map[string]struct {
		conduct                  Conduct
		wantPods, wantPodMetrics int
	}{
		"as it should be":             {Conduct{}, 200, 200},
		"fails":                       {Conduct{Failing: 1}, 503, 503},
		"fails with a code":           {Conduct{Failing: 1, Code: 429}, 429, 429},
		"forbids":                     {Conduct{Failing: 1, Code: 403}, 403, 403},
		"fails never":                 {Conduct{Code: 500}, 200, 200},
		"loses its metrics-server":    {WithoutMetricsServer(), 200, 503},
		"fails elsewhere":             {Conduct{Failing: 1, Under: "/apis/apps"}, 200, 200},
		"is slow":                     {Conduct{Latency: time.Millisecond, Jitter: time.Millisecond}, 200, 200},
		"hangs elsewhere":             {Conduct{Hang: true, Under: "/apis/apps"}, 200, 200},
		"shows garbage, as if it fit": {Conduct{Garbage: true}, 200, 200},
	}
	m := newOne(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m.Behave(tc.conduct)
			pods, body, err := ask(t, m, podsPath)
			if err != nil {
				t.Fatal(err)
			}
			podMetrics, _, err := ask(t, m, metricsPath)
			if err != nil {
				t.Fatal(err)
			}
			if pods != tc.wantPods || podMetrics != tc.wantPodMetrics {
				t.Errorf("%d and %d, want %d and %d", pods, podMetrics, tc.wantPods, tc.wantPodMetrics)
			}
			if garbage := body[0] != '{'; garbage != tc.conduct.Garbage {
				t.Errorf("the answer is %s", body)
			}
		})
	}
}

func TestSomeRequestsFail(t *testing.T) {
	m := newOne(t)
	m.Behave(Conduct{Failing: 0.5})
	codes := map[int]int{}
	for range 200 {
		code, _, err := ask(t, m, podsPath)
		if err != nil {
			t.Fatal(err)
		}
		codes[code]++
	}
	if codes[200] < 50 || codes[503] < 50 { // by chance once in 10^12 runs
		t.Errorf("%v", codes)
	}
}

func TestLatency(t *testing.T) {
	m := newOne(t)
	m.Behave(Conduct{Latency: 50 * time.Millisecond})
	begin := time.Now()
	if _, _, err := ask(t, m, podsPath); err != nil || time.Since(begin) < 50*time.Millisecond {
		t.Errorf("answered after %v, %v", time.Since(begin), err)
	}
}

func TestHangingEndsWithTheConduct(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 1})
	w, err := client(t, m).CoreV1().Pods("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	<-w.ResultChan()
	m.Behave(Conduct{Hang: true})
	answered := make(chan error, 1)
	go func() {
		_, err := client(t, m).CoreV1().Pods("shop").List(context.Background(), metav1.ListOptions{})
		answered <- err
	}()
	await(t, "the request", func() bool { return m.Requests()[Request{Verb: "list", Resource: "pods"}] == 1 })
	if err := m.Scale(Deployment, "shop", "web", 2); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-answered:
		t.Fatalf("a hanging member answered: %v", err)
	case e := <-w.ResultChan():
		t.Fatalf("a hanging member told of %v", e)
	case <-time.After(50 * time.Millisecond):
	}
	m.Behave(Conduct{})
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if e := <-w.ResultChan(); e.Object == nil {
		t.Error("the watch ended")
	}
}

func TestAwayAndBack(t *testing.T) {
	m := newOne(t)
	w, err := client(t, m).CoreV1().Pods("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m.Behave(Conduct{Away: true})
	for range w.ResultChan() { // it ends with its connection
	}
	if code, _, err := ask(t, m, podsPath); err == nil {
		t.Errorf("a member that is away answers %d", code)
	}
	m.Behave(Conduct{})
	if code, _, err := ask(t, m, podsPath); err != nil || code != http.StatusOK {
		t.Errorf("a member that is back: %d, %v", code, err)
	}
}

func TestFlapping(t *testing.T) {
	m := newOne(t)
	m.Behave(Conduct{Flap: 20 * time.Millisecond})
	for range 2 {
		await(t, "to be away", func() bool { _, _, err := ask(t, m, podsPath); return err != nil })
		await(t, "to be back", func() bool { _, _, err := ask(t, m, podsPath); return err == nil })
	}
	m.Behave(Conduct{})
	if _, _, err := ask(t, m, podsPath); err != nil {
		t.Errorf("no longer flapping: %v", err)
	}
}

func TestForeignCertificate(t *testing.T) {
	m := newOne(t)
	m.Behave(Conduct{ForeignCertificate: true})
	_, _, err := ask(t, m, podsPath)
	if unknown := new(x509.UnknownAuthorityError); !errors.As(err, unknown) {
		t.Errorf("the certificate is taken: %v", err)
	}
	m.Behave(Conduct{})
	if _, _, err := ask(t, m, podsPath); err != nil {
		t.Error(err)
	}
}

func TestWithoutTheTokenNothingIsTold(t *testing.T) {
	f := newFleet(t, 2)
	stranger := f.Members()[0].RESTConfig()
	stranger.BearerToken = f.Members()[1].RESTConfig().BearerToken
	client, err := kubernetes.NewForConfig(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with another member's token: %v", err)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	m := newOne(t)
	before := m.Requests()
	for range 3 {
		if _, _, err := ask(t, m, metricsPath); err != nil {
			t.Fatal(err)
		}
	}
	m.Behave(Conduct{Failing: 1})
	for _, path := range []string{podsPath, podsPath + "?watch=true", "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/requests",
		"/version"} {
		if _, _, err := ask(t, m, path); err != nil {
			t.Fatal(err)
		}
	}
	want := Tally{
		{Verb: "list", Group: metricsGroup, Resource: "pods"}:                        3,
		{Verb: "list", Resource: "pods"}:                                             1,
		{Verb: "watch", Resource: "pods"}:                                            1,
		{Verb: "get", Group: customGroup, Resource: "pods", Subresource: "requests"}: 1,
		{Verb: "get", Resource: "/version"}:                                          1,
	}
	got := m.Requests().Since(before)
	fleettest.Same(t, "", want, got)
	if got.Of(metricsGroup) != 3 || got.Total() != 7 {
		t.Errorf("%d of metrics, %d in all", got.Of(metricsGroup), got.Total())
	}
}
