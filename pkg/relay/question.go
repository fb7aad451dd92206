// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// CustomQuestion asks for one metric of objects. Its words become segments of
// a URL: the caller has seen to it that they can.
type CustomQuestion struct {
	// Namespace; empty for objects that have none.
	Namespace string
	// Resource with the empty group for core.
	Resource schema.GroupResource
	// Name of the object, or "*" for all that Selector matches.
	Name   string
	Metric string
	// Selector on the objects' labels, for "*". Nil selects all, here and below.
	Selector labels.Selector
	// MetricSelector on the metric's labels, without keys of ours.
	MetricSelector labels.Selector
	// Clusters says which members are asked, by name.
	Clusters func(name string) bool
}

// ExternalQuestion asks for the series of one metric; otherwise as CustomQuestion.
type ExternalQuestion struct {
	Namespace, Metric string
	MetricSelector    labels.Selector
	Clusters          func(name string) bool
}

// Result is what the members said, and what is known of the silent ones.
type Result[T any] struct {
	// Answer: absent is who does not serve the API, or does not know the metric or the object.
	fleet.Answer[[]T]
	// Since is since when each silent member has been silent to this question,
	// as far as was seen: its own failures, its API's and its cluster's, but
	// not from before it last answered.
	Since map[string]time.Time
	// Before is what a silent member last answered to this question, be it
	// nothing; there is no entry for one that never did. Custom metrics have none.
	Before map[string][]T
}

// allObjects in place of a name asks for all that the selector matches.
const allObjects = "*"

// key is one question as a member is asked it.
type key struct {
	namespace                string
	resource                 string // as resource.group; empty for external metrics
	name                     string
	metric                   string
	selector, metricSelector string
}

func (q CustomQuestion) key() key {
	k := key{
		namespace: q.Namespace, resource: q.Resource.String(), name: q.Name, metric: q.Metric,
		metricSelector: text(q.MetricSelector),
	}
	if q.Name == allObjects {
		k.selector = text(q.Selector)
	}
	return k
}

func (q ExternalQuestion) key() key {
	return key{namespace: q.Namespace, metric: q.Metric, metricSelector: text(q.MetricSelector)}
}

func text(s labels.Selector) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// customRequest completes a request for custom metrics. A namespace's own
// metrics lie where those of objects in it have their resource.
func customRequest(r *rest.Request, version string, k key) *rest.Request {
	segments := []string{"apis", customGroup, version}
	switch {
	case k.resource == "namespaces":
		segments = append(segments, "namespaces", k.name, "metrics", k.metric)
	case k.namespace != "":
		segments = append(segments, "namespaces", k.namespace, k.resource, k.name, k.metric)
	default:
		segments = append(segments, k.resource, k.name, k.metric)
	}
	r = r.AbsPath(segments...)
	r = selectBy(r, "labelSelector", k.selector)
	return selectBy(r, "metricLabelSelector", k.metricSelector)
}

func externalRequest(r *rest.Request, version string, k key) *rest.Request {
	r = r.AbsPath("apis", externalGroup, version, "namespaces", k.namespace, k.metric)
	return selectBy(r, "labelSelector", k.metricSelector)
}

func selectBy(r *rest.Request, parameter, selector string) *rest.Request {
	if selector == "" {
		return r
	}
	return r.Param(parameter, selector)
}
