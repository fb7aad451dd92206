// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

const (
	// ReasonNoSummary: the hub has no Karmada Cluster of that name, or none that is Ready and summed up.
	ReasonNoSummary fleet.Reason = "NoSummary"

	// summariesFor is how long a list of Clusters is used: Karmada writes their status every 10 s at most.
	summariesFor = 15 * time.Second
)

var karmadaClusters = schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}

var karmadaKind = schema.GroupKind{Group: karmadaClusters.Group, Kind: "Cluster"}

// summaries reads what Karmada sums up of its clusters. It knows a member by the name of its Cluster.
type summaries struct {
	hub     dynamic.Interface
	kinds   meta.RESTMapper // nil: not known
	timeout time.Duration
	asking  singleflight.Group

	mu   sync.Mutex
	last listing
}

var _ source = (*summaries)(nil)

// listing is the outcome of asking for all Clusters.
type listing struct {
	at      time.Time
	byName  map[string]fit.Summary
	failure *fleet.Silence
}

func newSummaries(o Options) *summaries {
	return &summaries{hub: o.Hub, kinds: o.Kinds, timeout: cmp.Or(o.Timeout, 5*time.Second)}
}

func (s *summaries) estimate(ctx context.Context, m mirror.Member, w fit.Workload) Estimate {
	l := s.listing(ctx)
	if l.failure != nil {
		return unknown(l.failure)
	}
	summary, found := l.byName[m.Name()]
	if !found {
		return unknown(&fleet.Silence{Reason: ReasonNoSummary, Detail: "the hub has no Karmada Cluster of that name that is Ready and summed up"})
	}
	return Estimate{Additional: fit.EstimateSummary(summary, w), Known: true, AsOf: l.at}
}

// listing is the last one while it is young; otherwise the Clusters are listed, once for all who wait.
func (s *summaries) listing(ctx context.Context) listing {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if !last.at.IsZero() && time.Since(last.at) < summariesFor {
		return last
	}
	result := s.asking.DoChan("", func() (any, error) {
		l := s.list(context.WithoutCancel(ctx)) // others wait for it too
		s.mu.Lock()
		s.last = l
		s.mu.Unlock()
		return l, nil
	})
	select {
	case r := <-result:
		return r.Val.(listing)
	case <-ctx.Done():
		return listing{failure: &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "the Karmada Clusters of the hub are being listed"}}
	}
}

func (s *summaries) list(ctx context.Context) listing {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	l := listing{at: time.Now(), byName: map[string]fit.Summary{}}
	if s.kinds != nil {
		if _, err := s.kinds.RESTMapping(karmadaKind, karmadaClusters.Version); meta.IsNoMatchError(err) {
			return l
		}
	}
	// From the server's memory: what Karmada sums up is some seconds old anyway.
	clusters, err := s.hub.Resource(karmadaClusters).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	switch {
	case apierrors.IsNotFound(err):
		return l // not a Karmada hub
	case err != nil:
		silence, _ := fleet.Classify(fmt.Errorf("listing Karmada Clusters: %w", err))
		l.failure = silence
		return l
	}
	for i := range clusters.Items {
		if summary, ok := summaryOf(&clusters.Items[i]); ok {
			l.byName[clusters.Items[i].GetName()] = summary
		}
	}
	return l
}

// summarized is what is read of a Karmada Cluster.
type summarized struct {
	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		ResourceSummary *fit.Summary       `json:"resourceSummary"`
	} `json:"status"`
}

// summaryOf is not ok if there is none, or nobody has refreshed it: a Cluster that is not Ready keeps its last one.
func summaryOf(u *unstructured.Unstructured) (fit.Summary, bool) {
	var c summarized
	err := guard.Unstructured(u.Object, &c)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &c)
	}
	if err != nil || c.Status.ResourceSummary == nil || !meta.IsStatusConditionTrue(c.Status.Conditions, "Ready") {
		return fit.Summary{}, false
	}
	return *c.Status.ResourceSummary, true
}
