// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// Relay asks the members' own custom and external metrics APIs.
type Relay interface {
	Custom(context.Context, relay.CustomQuestion) relay.Result[custom_metrics.MetricValue]
	External(context.Context, relay.ExternalQuestion) relay.Result[external_metrics.ExternalMetricValue]
	CustomMetrics() []provider.CustomMetricInfo
	ExternalMetrics() []provider.ExternalMetricInfo
	// OnCatalogueChange has f called after either list changed.
	OnCatalogueChange(f func())
}

// An inquiry is what has to be known of a question to judge its answer.
type inquiry struct {
	kind merge.Kind
	merge.Choice
	// metric is what of the metric's selector is for the members.
	metric labels.Selector
	// subject is what is asked for, for people: metric "rps" of services "shop".
	subject  string
	clusters func(name string) bool
}

// inquire reads a metric's selector.
func inquire(ctx context.Context, kind merge.Kind, subject string, selector labels.Selector) (inquiry, error) {
	choice, rest, err := merge.Choose(selector)
	if err != nil {
		return inquiry{}, apierrors.NewBadRequest(err.Error())
	}
	choice.AllowPartial = choice.AllowPartial || conversationOf(ctx).allowsPartial()
	return inquiry{kind: kind, Choice: choice, metric: rest, subject: subject, clusters: meansCluster(choice.Clusters)}, nil
}

// only restricts the inquiry to clusters that also meet the condition.
func (q *inquiry) only(condition func(name string) bool) {
	before := q.clusters
	q.clusters = func(name string) bool { return before(name) && condition(name) }
}

// meansCluster returns which clusters a selector on their label means.
func meansCluster(selector labels.Selector) func(name string) bool {
	return func(name string) bool { return selector.Matches(labels.Set{fleet.ClusterLabel: name}) }
}

// settle returns who took part, and returns nil if that is enough for an answer.
// covers says, where there can be such a thing, whether others answered with
// all that a silent member had last.
func settle[T any](ctx context.Context, a *Adapter, q inquiry, r relay.Result[T], covers func(before merge.Seen) bool) error {
	registered, _ := a.clusters()
	if len(registered) == 0 {
		return errNoMembers()
	}
	if r.Throttled {
		return apierrors.NewTooManyRequests(q.subject+": more is asked of the clusters, by this namespace or by all, than they are sent in a "+
			"second (--member-qps); ask again, or for fewer different metrics", 1)
	}
	addUnheard(r.Answer, registered, q.clusters)
	r.Release(a.drained)
	coverage := r.Coverage()
	evidence := merge.Evidence{
		Kind: q.kind, Word: q.Word, AllowPartial: q.AllowPartial,
		Answered: len(coverage.Answered), Known: knowing(q, r),
	}
	for _, member := range coverage.Silent {
		part := silentPart(member.Cluster, r, a.memberGrace, covers)
		if part.Covered {
			coverage.Covered = append(coverage.Covered, member.Cluster)
		}
		evidence.Silent = append(evidence.Silent, part)
	}
	tell(ctx, coverage)
	if coverage.NobodyAnswered() {
		return unavailable(q, evidence, coverage)
	}
	switch merge.Judge(evidence) {
	case merge.NotFound:
		return a.notFound(q, coverage)
	case merge.Unavailable:
		return unavailable(q, evidence, coverage)
	default:
		if len(coverage.Silent) > 0 { // that some do not have a metric is as it should be
			warn(ctx, coverage)
		}
		return nil
	}
}

func silentPart[T any](cluster string, r relay.Result[T], grace time.Duration, covers func(before merge.Seen) bool) merge.SilentPart {
	since, sinceKnown := r.Since[cluster]
	before, beforeKnown := r.Before[cluster]
	return merge.SilentPart{
		LongGone: sinceKnown && time.Since(since) > grace,
		Covered:  beforeKnown && covers != nil && covers(before),
	}
}

// knowing returns how many members know what was asked for. Of an external metric
// those with a series: many servers say that there are none of what they do not know.
func knowing[T any](q inquiry, r relay.Result[T]) int {
	if q.kind != merge.SeriesOfMetric {
		return len(r.Values) - len(r.Absent)
	}
	known := 0
	for _, series := range r.Values {
		if len(series) > 0 {
			known++
		}
	}
	return known
}

// unavailable returns why there is no answer, and how to have a part of it.
func unavailable(q inquiry, e merge.Evidence, c fleet.Coverage) error {
	text := fmt.Sprintf("%s: a partial result would pass for the whole: %s; to accept partial results, add %s=%s to the metric's selector",
		q.subject, c.Warning(), merge.PartialKey, fleet.PartialAllow)
	switch {
	case e.Known == 0:
		text = fmt.Sprintf("%s: no cluster that answered serves it, and %s", q.subject, c.Warning())
	case q.Word == merge.Avg || q.Word == merge.Min:
		text = fmt.Sprintf("%s: the %s of a part of the fleet may be far from that of the whole: %s", q.subject, q.Word, c.Warning())
	}
	return apierrors.NewServiceUnavailable(text)
}

func (a *Adapter) notFound(q inquiry, c fleet.Coverage) error {
	what := "not known"
	if q.kind == merge.SeriesOfMetric {
		what = "not known, or without such a series,"
	}
	text := fmt.Sprintf("%s: %s in any of the clusters asked: %s", q.subject, what, strings.Join(c.Answered, ", "))
	switch {
	case len(c.Answered)+len(c.Silent)+len(c.Drained) == 0:
		registered, _ := a.clusters()
		text = fmt.Sprintf("%s: the selector on %s selects none of the clusters: %s", q.subject, fleet.ClusterLabel,
			strings.Join(registered, ", "))
	case len(c.Silent) > 0:
		text += "; and " + c.Warning()
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: text,
	}}
}
