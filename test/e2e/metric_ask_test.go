// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	customV1beta1   = "/apis/custom.metrics.k8s.io/v1beta1"
	customV1beta2   = "/apis/custom.metrics.k8s.io/v1beta2"
	externalV1beta1 = "/apis/external.metrics.k8s.io/v1beta1"
)

// podsMetric is the path of a metric of all pods in shop. The query is made of
// names and values in turns.
func podsMetric(metric string, query ...string) string {
	return customV1beta2 + "/namespaces/" + shop + "/pods/%2A/" + metric + queryOf(query)
}

// serviceMetric is the path of a metric of the service web in shop. Selectors
// are those of the metric.
func serviceMetric(metric string, selectors ...string) string {
	return customV1beta2 + "/namespaces/" + shop + "/services/web/" + metric + metricSelector("metricLabelSelector", selectors)
}

// externalMetric is the path of an external metric in shop.
func externalMetric(metric string, selectors ...string) string {
	return externalV1beta1 + "/namespaces/" + shop + "/" + metric + metricSelector("labelSelector", selectors)
}

func metricSelector(parameter string, selectors []string) string {
	if len(selectors) == 0 {
		return ""
	}
	return queryOf([]string{parameter, strings.Join(selectors, ",")})
}

func queryOf(pairs []string) string {
	if len(pairs) == 0 {
		return ""
	}
	values := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		values.Set(pair[0], pair[1])
	}
	return "?" + values.Encode()
}

// told is an answer for a custom or external metric, taken apart.
type told struct {
	Code int
	// Items are, in their order, "CLUSTER/OBJECT VALUE", without the cluster
	// where an item bears none, or "LABELS VALUE" of an external metric.
	Items    []string
	Warning  string
	Coverage fleet.Coverage
	// Message is why there is no answer.
	Message string
}

// item is one of any of the three versions.
type item struct {
	DescribedObject struct {
		Name string `json:"name"`
	} `json:"describedObject"`
	Metric struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"metric"`
	Selector     *metav1.LabelSelector `json:"selector"`
	MetricLabels labels.Set            `json:"metricLabels"`
	Value        string                `json:"value"`
}

func (i item) String() string {
	name := i.DescribedObject.Name
	for _, selector := range []*metav1.LabelSelector{i.Selector, i.Metric.Selector} {
		if selector != nil && selector.MatchLabels[fleet.ClusterLabel] != "" {
			name = selector.MatchLabels[fleet.ClusterLabel] + "/" + name
		}
	}
	if name == "" {
		name = i.MetricLabels.String()
	}
	return name + " " + i.Value
}

func toldBy(a answer) (told, error) {
	v := told{Code: a.Code, Warning: a.Header.Get("Warning")}
	var err error
	if v.Coverage, err = fleet.ParseCoverage(a.Header.Get(fleet.CoverageHeader)); err != nil {
		return v, err
	}
	var body struct {
		Message string `json:"message"`
		Items   []item `json:"items"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		if a.Code == http.StatusOK {
			return v, fmt.Errorf("reading %s: %w", a.Body, err)
		}
		body.Message = string(a.Body) // some errors of the hub are plain text
	}
	v.Message = body.Message
	for _, item := range body.Items {
		v.Items = append(v.Items, item.String())
	}
	return v, nil
}

// hear asks a server for a metric.
func hear(ctx context.Context, config *rest.Config, path string) (told, error) {
	a, err := raw(ctx, config, path, "")
	if err != nil {
		return told{}, err
	}
	return toldBy(a)
}

// listen asks the hub for a metric.
func (e *env) listen(t *testing.T, path string) told {
	t.Helper()
	v, err := hear(t.Context(), config(t, e.Hub()), path)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return v
}

// hears waits until the hub's answer for a metric is as described.
func (e *env) hears(t *testing.T, what, path string, right func(told) error) {
	t.Helper()
	hearsFrom(t, config(t, e.Hub()), what, path, right)
}

func hearsFrom(t *testing.T, server *rest.Config, what, path string, right func(told) error) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) error {
		v, err := hear(ctx, server, path)
		if err != nil {
			return err
		}
		return right(v)
	})
}

// tells wants these items, in this order.
func tells(want ...string) func(told) error {
	return func(v told) error {
		if v.Code != http.StatusOK {
			return fmt.Errorf("%d: %s", v.Code, v.Message)
		}
		if !slices.Equal(v.Items, want) {
			return fmt.Errorf("it is told %q, want %q (coverage %q)", v.Items, want, v.Coverage.Header())
		}
		return nil
	}
}

// whollyTells wants these items, and no complaint.
func whollyTells(want ...string) func(told) error {
	return func(v told) error {
		if err := tells(want...)(v); err != nil {
			return err
		}
		if v.Warning != "" || len(v.Coverage.Silent) > 0 {
			return fmt.Errorf("coverage %q, warning %q", v.Coverage.Header(), v.Warning)
		}
		return nil
	}
}

// tellsWithout wants these items, and this reason why a member's part is missing.
func tellsWithout(member, reason string, want ...string) func(told) error {
	return func(v told) error {
		if err := tells(want...)(v); err != nil {
			return err
		}
		if part := "1 of 3 clusters did not answer: " + member + " (" + reason; !strings.Contains(v.Warning, part) {
			return fmt.Errorf("the warning is %q, want %q in it", v.Warning, part)
		}
		return nil
	}
}

// refuses wants an error that has all these words.
func refuses(code int, words ...string) func(told) error {
	return func(v told) error {
		if v.Code != code || !containsAll(v.Message, words) {
			return fmt.Errorf("%d %s, items %q; want %d with %q", v.Code, v.Message, v.Items, code, words)
		}
		return nil
	}
}

// figure is what members tell of an object in shop, by the member's name.
type figure map[string]string

// tell has members tell figures of an object in shop until the test ends. A
// member that is not among them does not know the metric.
func (e *env) tell(t *testing.T, kind, object, metric string, figures figure) {
	t.Helper()
	for member, value := range figures {
		e.tellFigure(t, member, figureOf(kind, object, metric, value))
	}
}

func figureOf(kind, object, metric, value string) lab.Figure {
	return lab.Figure{Namespace: shop, Resource: kind, Object: object, Metric: metric, Value: resource.MustParse(value)}
}

func (e *env) tellFigure(t *testing.T, member string, f lab.Figure) {
	t.Helper()
	c := e.member(t, member)
	if err := c.SetFigure(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.DropFigure(afterwards(t), f) })
}

// tellSeries has a member tell series of an external metric until the test
// ends. They are given by their labels.
func (e *env) tellSeries(t *testing.T, member, metric string, series map[string]string) {
	t.Helper()
	c := e.member(t, member)
	for text, value := range series {
		set, err := labels.ConvertSelectorToLabelsMap(text)
		if err == nil {
			err = c.SetSeries(t.Context(), lab.Series{Metric: metric, Labels: set, Value: resource.MustParse(value)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = c.DropSeries(afterwards(t), metric) })
}

func (e *env) member(t *testing.T, name string) *lab.Cluster {
	t.Helper()
	c := e.cluster(t, name)
	return c
}

// asked are the questions that the adapter has put to a member for a metric.
func (e *env) asked(t *testing.T, member, metric string) []string {
	t.Helper()
	questions, err := e.member(t, member).Questions()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, question := range questions {
		if question.User == adapterInMember && strings.Contains(question.URI, metric) {
			found = append(found, question.URI)
		}
	}
	return found
}

// adapterInMember is who the adapter is there.
const adapterInMember = "system:serviceaccount:fleetscale-member:fleetscale-read"

// wants reports what is wrong with an answer that needs no waiting for.
func (e *env) wants(t *testing.T, path string, right func(told) error) {
	t.Helper()
	if err := right(e.listen(t, path)); err != nil {
		t.Errorf("GET %s: %v", path, err)
	}
}
