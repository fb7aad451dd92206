// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// discoverAlways discovers the member's metrics: at once, when woken, and
// about once per period, until the member leaves.
func (l *line[T]) discoverAlways() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.wake:
		case <-timer.C:
		}
		l.discover()
		timer.Reset(jittered(l.board.o.DiscoveryPeriod))
	}
}

// jittered is d, give or take a tenth.
func jittered(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}

// found is the result of a discovery.
type found struct {
	version string
	names   []unique.Handle[provider.CustomMetricInfo]
	cut     bool // there are more
}

// discover runs one discovery. A member known to be down is skipped; a failure
// changes nothing in the catalogue.
func (l *line[T]) discover() {
	if !l.source.IsHub() && l.source.Silence() != nil {
		return
	}
	start := time.Now()
	f, err := l.find()
	if l.ctx.Err() != nil || ratelimit.Throttled(err) {
		return
	}
	silence, absent := fleet.Classify(err)
	if silence != nil {
		l.noteFailing(start)
	} else {
		l.publish(f.names)
	}
	l.log(f, silence, absent)
}

func (l *line[T]) noteFailing(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failing.IsZero() {
		l.failing = since
	}
}

func (l *line[T]) find() (found, error) {
	if l.source.IsHub() {
		return found{}, l.api.absent()
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.board.o.Timeout)
	defer cancel()
	version, err := l.relearn().wait(ctx)
	if err != nil {
		return found{}, err
	}
	var list metav1.APIResourceList
	if err := l.read(ctx, &list, &list.Kind, "APIResourceList", l.api.group, version); err != nil {
		return found{}, err
	}
	var names []unique.Handle[provider.CustomMetricInfo]
	if err := l.source.Reading().Guard(func() error { names = l.listed(list.APIResources); return nil }); err != nil {
		return found{}, err
	}
	if len(names) > mostNames {
		return found{version, slices.Clone(names[:mostNames]), true}, nil
	}
	return found{version: version, names: names}, nil
}

// publish takes what was found for the member's part of the catalogue.
func (l *line[T]) publish(names []unique.Handle[provider.CustomMetricInfo]) {
	l.meter.catalogue(len(names))
	l.mu.Lock()
	changed := !slices.Equal(l.names, names)
	l.names, l.failing = names, time.Time{}
	l.mu.Unlock()
	if changed {
		l.board.stale.Store(true)
		l.board.wakeUp()
	}
}

// log says once what became of the member's API.
func (l *line[T]) log(f found, silence *fleet.Silence, absent bool) {
	state := f.version
	switch {
	case silence != nil:
		state = "fails"
	case absent:
		state = "absent"
	case f.cut:
		state += " cut"
	}
	if state == l.state {
		return
	}
	l.state = state
	logger := klog.FromContext(l.ctx).WithValues("cluster", l.source.Name(), "api", l.api.group)
	switch {
	case silence != nil:
		logger.Info("Metric discovery failed, so the last known metrics stay listed", "reason", silence.Reason, "detail", silence.Detail)
	case absent:
		logger.Info("Cluster does not serve the metrics API")
	case f.cut:
		logger.Info("Cluster serves more metrics than are listed; all can be requested", "version", f.version, "listed", len(f.names))
	default:
		logger.Info("Discovered the metrics of the cluster", "version", f.version, "metrics", len(f.names))
	}
}
