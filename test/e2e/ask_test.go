// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	v1beta1  = "/apis/metrics.k8s.io/v1beta1"
	v1       = "/apis/metrics.k8s.io/v1"
	shopPath = v1beta1 + "/namespaces/" + shop + "/pods"
	allPath  = v1beta1 + "/pods"
)

// answer is what an API server said.
type answer struct {
	Code   int
	Header http.Header
	Body   []byte
}

// raw asks a server for a path. Without accept it gets JSON.
func raw(ctx context.Context, config *rest.Config, path, accept string) (answer, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return answer{}, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, nil)
	if err != nil {
		return answer{}, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{Code: response.StatusCode, Header: response.Header, Body: body}, err
}

// allowing is config for one who says by header whether partial answers will do.
func allowing(config *rest.Config, word string) *rest.Config {
	if word == "" {
		return config
	}
	c := rest.CopyConfig(config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set(fleet.PartialHeader, word)
			return next.RoundTrip(r)
		})
	})
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func config(t *testing.T, c *lab.Cluster) *rest.Config {
	t.Helper()
	config, err := c.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.Timeout = 30 * time.Second
	return config
}

// directly asks an adapter past the hub's API server, as an administrator.
func directly(t *testing.T, a *fixture.Adapter) *rest.Config {
	t.Helper()
	c := config(t, a.Hub)
	c.Host = a.URL()
	return c
}

// get asks the hub and wants an answer, whatever it is.
func (e *env) get(t *testing.T, path string) answer {
	t.Helper()
	got, err := raw(t.Context(), config(t, e.Hub()), path, "")
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return got
}

// view is an answer for pods, taken apart.
type view struct {
	Code int
	// Pods are CLUSTER/NAME, in order; in shop only.
	Pods     []string
	Warning  string
	Coverage fleet.Coverage
	// Message is why there is no answer.
	Message string
	items   []metricsv1beta1.PodMetrics
}

func viewOf(a answer) (view, error) {
	v := view{Code: a.Code, Warning: a.Header.Get("Warning")}
	var err error
	if v.Coverage, err = fleet.ParseCoverage(a.Header.Get(fleet.CoverageHeader)); err != nil {
		return v, err
	}
	var body struct {
		Message string                      `json:"message"`
		Items   []metricsv1beta1.PodMetrics `json:"items"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		if a.Code == http.StatusOK {
			return v, fmt.Errorf("reading %s: %w", a.Body, err)
		}
		body.Message = string(a.Body) // some errors of the hub are plain text
	}
	v.Message, v.items = body.Message, body.Items
	for _, item := range body.Items {
		if item.Namespace == shop {
			v.Pods = append(v.Pods, item.Labels[fleet.ClusterLabel]+"/"+item.Name)
		}
	}
	slices.Sort(v.Pods)
	return v, nil
}

// see asks a server for pods.
func see(ctx context.Context, config *rest.Config, path string) (view, error) {
	a, err := raw(ctx, config, path, "")
	if err != nil {
		return view{}, err
	}
	return viewOf(a)
}

// query requests pods from the hub.
func (e *env) query(t *testing.T, path string) view {
	t.Helper()
	v, err := see(t.Context(), config(t, e.Hub()), path)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return v
}

// kubectl runs it on the hub and wants it to succeed.
func (e *env) kubectl(t *testing.T, args ...string) fixture.Said {
	t.Helper()
	said, err := e.Ask(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// samples returns what an answer says of each pod.
func samples(v view) map[string]metricsv1beta1.PodMetrics {
	all := map[string]metricsv1beta1.PodMetrics{}
	for _, item := range v.items {
		all[item.Labels[fleet.ClusterLabel]+"/"+item.Name] = bare(item)
	}
	return all
}

// bare is a sample without what the hub adds, and without its creation time,
// which a server makes up when it answers.
func bare(m metricsv1beta1.PodMetrics) metricsv1beta1.PodMetrics {
	return metricsv1beta1.PodMetrics{Timestamp: m.Timestamp, Window: m.Window, Containers: m.Containers}
}
