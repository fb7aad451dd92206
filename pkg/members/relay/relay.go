// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

// Source is one member. Another Source under the same name is another cluster.
// No method may block.
type Source interface {
	Name() string
	// Silence is why asking is useless; nil when it is not.
	Silence() error
	// State tells since when the member is not ready.
	State() member.State
	// IsHub is true for the hub itself: its API server would ask us, so it
	// counts as serving neither API, and is not asked.
	IsHub() bool
	// Client asks the member's API server. It is taken again before each request.
	Client() rest.Interface
	// Reading decodes its answers.
	Reading() *connection.Reading
}

var _ Source = (*member.Member)(nil)

// Options of a Relay. All durations must be above 0.
type Options struct {
	// Members gives the registered members; it must not block.
	Members func() []Source
	// Timeout bounds what one question may cost one member.
	Timeout time.Duration
	// KeepFor is how long an answer serves identical questions, from when it was
	// asked for; and a failure, from when it was known.
	KeepFor time.Duration
	// IdleAfter is when a question that nobody asks is forgotten, with what was last seen.
	IdleAfter time.Duration
	// DiscoveryPeriod is the interval of discovery of a member's metrics.
	DiscoveryPeriod time.Duration
	// Memory bounds what is kept.
	Memory *memory.Memory
	// Custom and External say which APIs are served at all. The other is never asked for.
	Custom, External bool
	// Metrics counts. It must not be nil.
	Metrics *Metrics
}

// Relay asks for the fleet. All methods may be called from any goroutine,
// OnCatalogueChange before Run.
type Relay struct {
	custom   *board[custom_metrics.MetricValue]
	external *board[external_metrics.ExternalMetricValue]
	run      []func(context.Context)
	changed  chan struct{} // the catalogue
	onChange []func()
}

// New returns a relay that knows no member until it runs.
func New(o Options) *Relay {
	r := &Relay{changed: make(chan struct{}, 1)}
	decoder := newDecoder()
	r.custom = newBoard(o, customAPI(decoder), r.catalogueChanged)
	r.external = newBoard(o, externalAPI(decoder), r.catalogueChanged)
	if o.Custom {
		r.run = append(r.run, r.custom.run)
	}
	if o.External {
		r.run = append(r.run, r.external.run)
	}
	return r
}

// Run follows the members until ctx ends, and returns when everything it started has ended.
func (r *Relay) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, run := range r.run {
		all.Go(func() { run(ctx) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
			for _, f := range r.onChange {
				f()
			}
		}
	}
}

// MembersChanged says that Members, or what one of them is, has changed. It never blocks.
func (r *Relay) MembersChanged() {
	r.custom.wakeUp()
	r.external.wakeUp()
}

// Custom asks the members' custom.metrics.k8s.io. It returns within the
// members' deadline and a second. Values are shared: do not write to them.
func (r *Relay) Custom(ctx context.Context, q CustomQuestion) Result[custom_metrics.MetricValue] {
	return r.custom.ask(ctx, q.key(), q.Clusters)
}

// External asks the members' external.metrics.k8s.io; otherwise as Custom.
func (r *Relay) External(ctx context.Context, q ExternalQuestion) Result[external_metrics.ExternalMetricValue] {
	return r.external.ask(ctx, q.key(), q.Clusters)
}

// CustomMetrics returns those that any member has, as last seen, in the order of
// resource and metric and without duplicates. The slice is shared: do not write to it.
func (r *Relay) CustomMetrics() []provider.CustomMetricInfo {
	return r.custom.catalogue()
}

// ExternalMetrics returns those that any member has, as last seen, in order and without duplicates.
func (r *Relay) ExternalMetrics() []provider.ExternalMetricInfo {
	all := r.external.catalogue()
	names := make([]provider.ExternalMetricInfo, len(all))
	for i, info := range all {
		names[i].Metric = info.Metric
	}
	return names
}

// OnCatalogueChange has f called after CustomMetrics or ExternalMetrics
// changed, never concurrently. It must be called before Run.
func (r *Relay) OnCatalogueChange(f func()) {
	r.onChange = append(r.onChange, f)
}

func (r *Relay) catalogueChanged() { signal(r.changed) }

// signal wakes the receiver of c, which has room for one signal.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
