// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
)

// Figure is what a custom metric says of an object. The object need not exist
// to be asked for by its name; who asks for all gets those that exist.
type Figure struct {
	// Namespace is empty for objects that are in none, namespaces among them.
	Namespace string
	// Resource is plural and has its group, if any: pods, deployments.apps.
	Resource string
	// Object is the object's name.
	Object string
	// Metric is the metric's name. An object has one figure of a metric.
	Metric string
	// Labels are what metric selectors match.
	Labels map[string]string
	// Value is told as it is, in its own unit.
	Value resource.Quantity
}

func (f Figure) path() string {
	switch {
	case f.Resource == "namespaces":
		return path.Join("write-metrics", "namespaces", f.Object, "metrics", f.Metric)
	case f.Namespace == "":
		return path.Join("write-metrics", f.Resource, f.Object, f.Metric)
	default:
		return path.Join("write-metrics", "namespaces", f.Namespace, f.Resource, f.Object, f.Metric)
	}
}

// Series is one series of an external metric. All namespaces have it.
type Series struct {
	// Metric is the metric's name.
	Metric string
	// Labels tell the series of a metric apart.
	Labels map[string]string
	// Value is told as it is, in its own unit.
	Value resource.Quantity
}

// SetFigure has the cluster's custom metrics API tell this from now on.
func (c *Cluster) SetFigure(ctx context.Context, f Figure) error {
	return c.tellAdapter(ctx, http.MethodPost, f.path(), f.Labels, f.Value.String())
}

// DropFigure undoes SetFigure. Labels and value do not matter.
func (c *Cluster) DropFigure(ctx context.Context, f Figure) error {
	return c.tellAdapter(ctx, http.MethodDelete, f.path(), nil, "")
}

// SetSeries has the cluster's external metrics API tell this from now on, in
// place of what it told of the same metric and labels.
func (c *Cluster) SetSeries(ctx context.Context, s Series) error {
	return c.tellAdapter(ctx, http.MethodPost, path.Join("external-metrics", s.Metric), s.Labels, s.Value.String())
}

// DropSeries takes all series of an external metric away.
func (c *Cluster) DropSeries(ctx context.Context, metric string) error {
	return c.tellAdapter(ctx, http.MethodDelete, path.Join("external-metrics", metric), nil, "")
}

func (c *Cluster) tellAdapter(ctx context.Context, method, path string, set labels.Set, body string) error {
	if c.ValuesURL == "" {
		return fmt.Errorf("setting a metric: cluster %s has no test-adapter", c.Name)
	}
	query := url.Values{"labels": {set.String()}}
	request, err := http.NewRequestWithContext(ctx, method, c.ValuesURL+"/"+path+"?"+query.Encode(), strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("setting a metric: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("setting a metric of %s: %w", c.Name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(response.Body)
		return fmt.Errorf("setting a metric of %s: %s %s: %s: %s", c.Name, method, path, response.Status, said)
	}
	return nil
}
