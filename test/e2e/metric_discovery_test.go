// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// metricAPIs are the versions whose resources are metrics, each with the name
// under which it lists the metric of that name.
func metricAPIs(metric string) map[string]string {
	return map[string]string{
		customV1beta1:   "services/" + metric,
		customV1beta2:   "services/" + metric,
		externalV1beta1: metric,
	}
}

// resources returns what a version lists: one entry each, in order, and never none.
func resources(ctx context.Context, server *rest.Config, path string) ([]string, error) {
	a, err := raw(ctx, server, path, "")
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(a.Body, &list); err != nil || a.Code != http.StatusOK {
		return nil, fmt.Errorf("%d: %s", a.Code, a.Body)
	}
	var names []string
	for _, resource := range list.APIResources {
		names = append(names, resource.Name)
	}
	if len(names) == 0 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		return nil, fmt.Errorf("%s lists %q: want some, sorted, each once", path, names)
	}
	return names, nil
}

// lists waits until a version lists a metric, or does so no more.
func (e *env) lists(t *testing.T, path, name string, want bool) {
	t.Helper()
	hub := config(t, e.Hub())
	eventually(t, fmt.Sprintf("%s lists %s: %v", path, name, want), func(ctx context.Context) error {
		names, err := resources(ctx, hub, path)
		if err == nil && slices.Contains(names, name) != want {
			err = fmt.Errorf("it lists %q", names)
		}
		return err
	})
}

// A metric is listed once any member has it, and no more when none has.
func TestMetricsAreListed(t *testing.T) {
	e := whole(t)
	const metric = "listed_rps"
	e.tell(t, "services", "web", metric, figure{"member1": "1", "member3": "1"})
	e.tellSeries(t, "member2", metric, map[string]string{"name=mail": "1"})
	for path, name := range metricAPIs(metric) {
		e.lists(t, path, name, true)
	}
	for _, member := range []string{"member1", "member3"} {
		if err := e.member(t, member).DropFigure(t.Context(), figureOf("services", "web", metric, "1")); err != nil {
			t.Fatal(err)
		}
	}
	e.lists(t, customV1beta2, "services/"+metric, false)
}

// The library that serves these APIs leaves them out of aggregated discovery,
// which every client of today reads.
func TestAggregatedDiscoveryHasTheMetrics(t *testing.T) {
	e := whole(t)
	const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	want := []string{
		"custom.metrics.k8s.io/v1beta1 services " + presence, "custom.metrics.k8s.io/v1beta2 services " + presence,
		"external.metrics.k8s.io/v1beta1 " + presence,
	}
	hasAll := func(server *rest.Config) func(context.Context) error {
		return func(ctx context.Context) error {
			a, err := raw(ctx, server, "/apis", accept)
			if err != nil {
				return err
			}
			var list apidiscoveryv2.APIGroupDiscoveryList
			if err := json.Unmarshal(a.Body, &list); err != nil {
				return err
			}
			found := discovered(list)
			for _, name := range want {
				if !slices.Contains(found, name) {
					return fmt.Errorf("%s is not among %q", name, found)
				}
			}
			return nil
		}
	}
	eventually(t, "the adapter's discovery has the metrics", hasAll(directly(t, e.adapter)))
	eventually(t, "the hub's discovery has the metrics", hasAll(config(t, e.Hub()))) // it is refreshed once a minute
	// kubectl leaves out subresources, and custom metrics are no other.
	eventually(t, "kubectl api-resources shows external metrics", func(ctx context.Context) error {
		said, err := e.Ask(ctx, "api-resources", "--api-group=external.metrics.k8s.io", "--cached=false", "--no-headers")
		if err == nil && !slices.Contains(firsts(said.Stdout, 1), presence) {
			err = fmt.Errorf("%s is not among\n%s%s", presence, said.Stdout, said.Stderr)
		}
		return err
	})
}

// discovered are "GROUP/VERSION RESOURCE SUBRESOURCE" of an answer.
func discovered(list apidiscoveryv2.APIGroupDiscoveryList) []string {
	var found []string
	for _, group := range list.Items {
		for _, version := range group.Versions {
			for _, resource := range version.Resources {
				name := group.Name + "/" + version.Version + " " + resource.Resource
				found = append(found, name)
				for _, subresource := range resource.Subresources {
					found = append(found, name+" "+subresource.Subresource)
				}
			}
		}
	}
	return found
}

// The kinds are described, and protobuf is there for those who prefer it.
func TestMetricAPIsAreDescribedAndEncoded(t *testing.T) {
	e := whole(t)
	for path, kind := range map[string]string{customV1beta1: "MetricValueList", customV1beta2: "MetricValueList",
		externalV1beta1: "ExternalMetricValueList"} {
		got := e.get(t, "/openapi/v3"+path)
		if got.Code != http.StatusOK || !strings.Contains(string(got.Body), kind) {
			t.Errorf("/openapi/v3%s: %d, %d bytes without %s", path, got.Code, len(got.Body), kind)
		}
	}
	for _, path := range []string{serviceMetric(presence), podsMetric(presence), externalMetric(presence)} {
		got, err := raw(t.Context(), config(t, e.Hub()), path, runtime.ContentTypeProtobuf+",application/json")
		if err != nil {
			t.Fatal(err)
		}
		if contentType := got.Header.Get("Content-Type"); contentType != runtime.ContentTypeProtobuf || got.Code != http.StatusOK {
			t.Errorf("GET %s: %d, the content type is %q", path, got.Code, contentType)
		}
	}
}

const rightToPresence = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: metrics, namespace: ` + shop + `}
rules:
- {apiGroups: [custom.metrics.k8s.io], resources: [services/` + presence + `], verbs: [get]}
- {apiGroups: [external.metrics.k8s.io], resources: [` + presence + `], verbs: [get, list]}
`

// Who may read a metric is for the hub's RBAC to say.
func TestRightsToMetrics(t *testing.T) {
	e := whole(t)
	const user = "mona"
	e.feed(t, rightToPresence)
	e.kubectl(t, "-n", shop, "create", "rolebinding", "metrics", "--role=metrics", "--user="+user)
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), "-n", shop, "delete", "role/metrics", "rolebinding/metrics") })
	data, err := e.Hub().UserKubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	as, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		serviceMetric(presence):          http.StatusOK,
		externalMetric(presence):         http.StatusOK,
		serviceMetric("another"):         http.StatusForbidden,
		externalMetric("another"):        http.StatusForbidden,
		podsMetric(presence):             http.StatusForbidden,
		customV1beta2 + "/nodes/a/watts": http.StatusForbidden,
		strings.Replace(serviceMetric(presence), "/"+shop+"/", "/elsewhere/", 1): http.StatusForbidden,
	} {
		v, err := hear(t.Context(), as, path)
		if err != nil || v.Code != want {
			t.Errorf("GET %s: %d %s, %v; want %d", path, v.Code, v.Message, err, want)
		}
	}
}

// What docs/ promise to those who watch the adapter is there.
func TestMetricsOfTheRelay(t *testing.T) {
	e := whole(t)
	e.listen(t, serviceMetric(presence))
	for name, labels := range map[string][]string{
		"fleetscale_relay_requests_total":                 {`cluster="member1"`, `result="Answered"`},
		"fleetscale_relay_request_duration_seconds_count": nil,
		"fleetscale_relay_questions_total":                {`cluster="member1"`, `served="asked"`},
		"fleetscale_relay_catalogue_metrics":              {`cluster="member1"`},
	} {
		for _, api := range []string{"custom", "external"} {
			if value, found := metric(t, e.adapter, name, append(labels, `api="`+api+`"`)...); !found || value == 0 {
				t.Errorf("%s of %v, %s: %v, %v", name, labels, api, value, found)
			}
		}
	}
	if _, found := metric(t, e.adapter, "fleetscale_relay_questions_total", `served="kept"`); !found {
		t.Error("no question was ever answered from memory")
	}
}
