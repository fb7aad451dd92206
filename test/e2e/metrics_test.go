// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// What docs/ promise to those who watch the adapter is there.
func TestMetricsOfTheAdapter(t *testing.T) {
	e := whole(t)
	for name, labels := range map[string][]string{
		"fleetscale_clusters":                               nil,
		"fleetscale_cluster_ready":                          {`cluster="member1"`},
		"fleetscale_cluster_registration_info":              {`cluster="member1"`, `registration="secret.member1"`, `reason="Ready"`},
		"fleetscale_cluster_last_success_timestamp_seconds": {`cluster="member1"`},
		"fleetscale_cluster_requests_total":                 {`cluster="member1"`, `result="Answered"`},
		"fleetscale_cluster_request_duration_seconds_count": {`cluster="member1"`},
		"fleetscale_usage_hot_namespaces":                   nil,
		"fleetscale_usage_samples":                          {`cluster="member1"`},
		"fleetscale_usage_age_seconds":                      {`cluster="member1"`},
		"fleetscale_usage_added_age_seconds_count":          nil,
		"fleetscale_usage_scrapes_total":                    {`cluster="member1"`, `result="Answered"`},
		"fleetscale_apiservice_ours":                        {`apiservice="v1.metrics.k8s.io"`},
		"fleetscale_apiservice_group_split":                 {`group="metrics.k8s.io"`},
		"metrics_apiserver_metric_freshness_seconds_count":  {`group="metrics.k8s.io"`},
		"apiserver_request_total":                           {`resource="pods"`},
	} {
		if _, found := metric(t, e.adapter, name, labels...); !found {
			t.Errorf("%s of %v is missing", name, labels)
		}
	}
	if clusters, _ := metric(t, e.adapter, "fleetscale_clusters"); clusters != 3 {
		t.Errorf("fleetscale_clusters is %v", clusters)
	}
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		if got, err := raw(t.Context(), directly(t, e.adapter), path, ""); err != nil || got.Code != 200 {
			t.Errorf("GET %s: %d, %v", path, got.Code, err)
		}
	}
}

// metric is the sum of an adapter's series of this name whose labels hold all
// of these, each as label="value". Without any series it is 0, and not found.
func metric(t *testing.T, a *fixture.Adapter, name string, labels ...string) (sum float64, found bool) {
	t.Helper()
	got, err := raw(t.Context(), directly(t, a), "/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	sum, found, err = fixture.Sum(string(got.Body), name, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return sum, found
}

// logged waits until the adapter has logged all words in one line, beyond the
// first skip bytes of its log.
func logged(t *testing.T, a *fixture.Adapter, skip int, words ...string) {
	t.Helper()
	eventually(t, "the log says "+strings.Join(words, ", "), func(context.Context) error {
		data, err := os.ReadFile(a.Log)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data[skip:])) {
			if containsAll(line, words) {
				return nil
			}
		}
		return errors.New("no such line in " + a.Log)
	})
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func logLength(t *testing.T, a *fixture.Adapter) int {
	t.Helper()
	data, err := os.ReadFile(a.Log)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}
