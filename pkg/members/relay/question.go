// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// CustomQuestion asks for one metric of objects.
type CustomQuestion struct {
	// Subject is whose metric it is.
	Subject Subject
	Metric  string
	// Selector on the objects' labels, where several may be meant. Nil selects all, here and below.
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

// Path holds the segments of the path that a member is asked, after the API's
// version. The caller has seen to it that each can be one segment of a URL.
func (q CustomQuestion) Path() []string { return q.Subject.path(q.Metric) }

// Path is as that of a CustomQuestion.
func (q ExternalQuestion) Path() []string { return externalPath(q.Namespace, q.Metric) }

func externalPath(namespace, metric string) []string {
	return []string{"namespaces", namespace, metric}
}

// Result is what the members said, and what is known of the silent ones.
type Result[T any] struct {
	// Answer: absent is who does not serve the API, or does not know the metric or the object.
	fleet.Answer[[]T]
	// Since is since when each silent member has been silent to this question,
	// as far as was seen: its own failures, its API's and its cluster's, but
	// not from before it last answered.
	Since map[string]time.Time
	// Before are the series that a silent member last answered this question with,
	// be it none; there is no entry for one that never did, or of which that is
	// forgotten. Custom metrics have none.
	Before map[string]merge.Seen
	// Throttled is true when a member was not asked because of our own limit of requests: whose
	// namespace asks too much is to ask again, and the member is not to blame.
	Throttled bool
}

// key is one question as a member is asked it.
type key struct {
	subject                  Subject // of an external metric its namespace
	metric                   string
	selector, metricSelector string
}

func (q CustomQuestion) key() key {
	k := key{subject: q.Subject, metric: q.Metric, metricSelector: text(q.MetricSelector)}
	if q.Subject.several() {
		k.selector = text(q.Selector)
	}
	return k
}

func (q ExternalQuestion) key() key {
	return key{subject: Subject{namespace: q.Namespace}, metric: q.Metric, metricSelector: text(q.MetricSelector)}
}

func text(s labels.Selector) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// customRequest completes a request for custom metrics.
func customRequest(r *rest.Request, version string, k key) *rest.Request {
	r = r.AbsPath(append([]string{"apis", customGroup, version}, k.subject.path(k.metric)...)...)
	r = selectBy(r, "labelSelector", k.selector)
	return selectBy(r, "metricLabelSelector", k.metricSelector)
}

func externalRequest(r *rest.Request, version string, k key) *rest.Request {
	r = r.AbsPath(append([]string{"apis", externalGroup, version}, externalPath(k.subject.namespace, k.metric)...)...)
	return selectBy(r, "labelSelector", k.metricSelector)
}

func selectBy(r *rest.Request, parameter, selector string) *rest.Request {
	if selector == "" {
		return r
	}
	return r.Param(parameter, selector)
}
